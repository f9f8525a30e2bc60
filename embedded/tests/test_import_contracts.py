"""The contracts of import-linter in pyproject.toml cover all packages; lint-imports ignores others."""

import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
LINTER = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
FOLDERS = ("embedded", "embedded/superset", "collectors/*")

COMMAND_LINE = {"tailrace.cli", "tailrace.deployment"}
SETTINGS = {"tailrace.config"}


def contract(name: str) -> dict:
    return next(each for each in LINTER["contracts"] if each["name"] == name)


def packages(*folders: str) -> set[str]:
    """The names of the folders that directly contain Python modules."""
    return {
        module.parent.name
        for folder in folders
        for module in REPOSITORY.glob(f"{folder}/tailrace*/__init__.py")
    }


def capabilities() -> set[str]:
    modules = (REPOSITORY / "embedded/tailrace").glob("*/*.py")
    return {f"tailrace.{module.parent.name}" for module in modules} - COMMAND_LINE - SETTINGS


def test_the_linter_reads_all_packages():
    assert set(LINTER["root_packages"]) == packages(*FOLDERS)


def test_each_package_may_not_import_some_other():
    restricted = {source for each in LINTER["contracts"] for source in each.get("source_modules", [])}
    # The stack of one machine may import everything that it starts.
    assert packages(*FOLDERS) - restricted == {"tailrace_local"}


def test_no_package_has_cycles():
    assert contract("Sub-packages form no cycles")["ancestors"] == LINTER["root_packages"]


def test_settings_import_no_capability():
    forbidden = contract("Settings, home directory and file formats import no capability")[
        "forbidden_modules"
    ]
    assert set(forbidden) == capabilities() | COMMAND_LINE


def test_no_capability_imports_the_command_line():
    restricted = contract("Capabilities do not import the command line")
    assert set(restricted["source_modules"]) == capabilities()
    assert set(restricted["forbidden_modules"]) == COMMAND_LINE


def test_only_the_one_machine_stack_may_import_what_the_product_may_not():
    forbidden = contract(
        "The product does not import the one-machine stack, the collectors and the pages of Superset"
    )
    # The product contains the verifier, which is also a package of its own.
    assert set(forbidden["forbidden_modules"]) == packages(*FOLDERS) - {"tailrace", "tailrace_verify"}
