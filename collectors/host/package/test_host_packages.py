import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from collectors.host.package import build
from tailrace.config.resources import REPOSITORY

UNITS = sorted((REPOSITORY / "collectors/systemd").glob("*.service"))
LIBRARIES = {"confluent_kafka", "jinja2", "markupsafe", "msgpack", "yaml"}
"""What tailrace-repair may import beside the standard library; markupsafe comes with jinja2."""
IMPORTS = """
import sys
sys.path.insert(0, sys.argv[1])
import tailrace.repair.__main__
assert tailrace.__file__.startswith(sys.argv[1]), tailrace.__file__
print("\\n".join(sorted({name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names)))
"""


def paths(name: str) -> set[str]:
    return {each["dst"] for each in build.contents(name, build.packages()[name])}


def staged(name: str, root: Path) -> Path:
    """Copies the files of a package below `root`."""
    for each in build.contents(name, build.packages()[name]):
        if each.get("type") != "symlink":
            target = root / each["dst"].lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(each["src"], target)
    return root


def settings_of(unit: Path) -> list[tuple[str, str]]:
    pairs = (line.split("=", 1) for line in unit.read_text().splitlines() if "=" in line and line[0] != "#")
    return [(name, value) for name, value in pairs]


def test_the_collector_contains_what_its_services_start():
    library, settings = "/usr/lib/tailrace", "/etc/tailrace/collector.env"
    assert paths("tailrace-collector") >= {
        *(settings, "/usr/bin/tailrace-collector", "/usr/bin/tailrace-census", f"{library}/census.py"),
        *(f"{library}/tailrace_collector.py", f"{library}/tailrace_signing/keys.py"),
        *(f"{library}/fluent-bit/slowlog.conf", "/usr/lib/sysusers.d/tailrace.conf"),
        "/usr/share/doc/tailrace-collector/HOSTS.md",
        *(f"{build.UNITS}/tailrace-{name}.service" for name in ("census", "fluent-bit", "fluent-bit-watch")),
    }


@pytest.mark.parametrize("name", build.packages())
def test_a_package_contains_no_tests_and_hides_passwords(name):
    for each in build.contents(name, build.packages()[name]):
        assert "test_" not in each["dst"]
        assert "__pycache__" not in each["dst"]
        if each["dst"].startswith("/etc/"):
            assert each["type"] == "config|noreplace"
            assert each["file_info"]["mode"] == 0o600


def test_no_file_is_in_two_packages():
    listed = [path for name in build.packages() for path in paths(name)]
    assert len(listed) == len(set(listed))


def test_every_unit_is_in_a_package():
    packaged = {unit for package in build.packages().values() for unit in package["units"]}
    assert packaged == {unit.name for unit in UNITS}


def test_repair_imports_only_its_files_and_its_dependencies(tmp_path):
    root = staged("tailrace-repair", tmp_path) / "usr/lib/tailrace/python"
    done = subprocess.run(
        [sys.executable, "-I", "-c", IMPORTS, root], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = {name for name in done.stdout.split() if not name.startswith(("_", "tailrace", "cython"))}
    assert loaded <= LIBRARIES


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_are_confined_alike(unit):
    reference = settings_of(UNITS[0])
    first = reference.index(("NoNewPrivileges", "yes"))
    confined = reference[first : reference.index(("WantedBy", "multi-user.target"))]
    assert len(confined) > 20
    # The official Fluent Bit contains LuaJIT, which makes memory executable.
    optional = {("MemoryDenyWriteExecute", "yes")}
    assert {*confined} - {*settings_of(unit)} <= optional
    assert ("User", "tailrace") in settings_of(unit)
    assert ("Restart", "always") in settings_of(unit)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_starts_what_is_packaged(unit):
    """Programs by their paths; modules of Python by their names."""
    listed = {path for name in build.packages() for path in paths(name)}
    for name, value in settings_of(unit):
        if name in ("ExecStart", "ExecStartPre"):
            for word in value.split():
                assert not word.startswith("/usr/lib/tailrace/") or word in listed
            if " -m " in value:
                module = value.split(" -m ")[1].split()[0].replace(".", "/")
                assert f"/usr/lib/tailrace/python/{module}/__main__.py" in listed


@pytest.mark.parametrize("name", build.packages())
def test_the_scripts_name_the_units_of_their_package(name, tmp_path):
    made = build.configuration(name, build.packages()[name], "1.2.3", tmp_path)
    for script in build.SCRIPTS:
        text = Path(made["scripts"][script]).read_text()
        assert "@" not in text
        subprocess.run(["sh", "-n", made["scripts"][script]], check=True)
    assert all(unit in (tmp_path / "preremove").read_text() for unit in build.packages()[name]["units"])
    assert "${VERSION}" not in str(made)
