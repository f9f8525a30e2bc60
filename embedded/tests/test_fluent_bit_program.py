"""Which Fluent Bit runs: the program of TAILRACE_FLUENT_BIT, one on PATH, or the built one."""

import dataclasses
from pathlib import Path

import pytest

from tailrace.config.home import Home
from tailrace.config.settings import Settings, SettingsError
from tailrace.programs.fluentbit import (
    COLLECTOR,
    filled_in,
    for_version_1,
    variables_of,
    with_escaped_values,
    with_joined_lines,
)
from tailrace.sources.sources_file import Source
from tailrace_local.components.fluentbit import FluentBit


def fluent_bit(directory: Path, **chosen: str) -> FluentBit:
    settings = Settings.from_environment({"TAILRACE_HOME": str(directory), **chosen})
    return FluentBit(settings, Home(settings.home))


def program_in(directory: Path) -> Path:
    directory.mkdir(exist_ok=True)
    program = directory / "fluent-bit"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def test_a_chosen_program_takes_precedence_over_one_on_path(tmp_path, monkeypatch):
    on_path, chosen = program_in(tmp_path / "bin"), program_in(tmp_path / "opt")
    monkeypatch.setenv("PATH", str(on_path.parent))

    assert fluent_bit(tmp_path).program() == on_path
    component = fluent_bit(tmp_path, TAILRACE_FLUENT_BIT=str(chosen))
    component.check()
    assert component.program() == chosen
    assert component.installed()


@pytest.mark.parametrize("make", [lambda file: None, Path.mkdir, Path.touch])
def test_a_chosen_program_that_cannot_run_is_reported_before_the_start(tmp_path, make):
    missing = tmp_path / "missing"
    make(missing)
    with pytest.raises(SettingsError, match=f"TAILRACE_FLUENT_BIT: there is no program {missing}"):
        fluent_bit(tmp_path, TAILRACE_FLUENT_BIT=str(missing)).check()


def test_a_child_gets_the_choice(tmp_path):
    for chosen in ("", str(program_in(tmp_path))):
        settings = Settings.from_environment({"TAILRACE_FLUENT_BIT": chosen})
        assert settings.environment()["TAILRACE_FLUENT_BIT"] == chosen
        assert dataclasses.asdict(Settings.from_environment(settings.environment())) == dataclasses.asdict(
            settings
        )


LOG = Source('db "1"', "slowlog", Path("/var/log/slow.log"), "shop east", "UTC")


def configuration() -> str:
    return filled_in((COLLECTOR / "slowlog.conf").read_text(), variables_of(LOG, "name"))


def records(text: str) -> list[str]:
    return [line.split("Record ")[1] for line in text.splitlines() if "Record " in line]


def test_values_with_quotes_and_blanks_are_escaped():
    assert records(with_escaped_values(configuration())) == [
        r'instance "db \"1\""',
        r'origin "slowlog|auto|UTC|shop east"',
    ]


def test_version_1_gets_values_without_quotes_and_no_truncation():
    old = for_version_1(configuration())
    assert records(old) == ['instance db "1"', "origin slowlog|auto|UTC|shop east"]
    assert "Truncate" not in old
    assert "Skip_Long_Lines   On\n    storage.type" in old


def test_only_the_build_of_tailrace_joins_lines():
    joined = with_joined_lines(for_version_1(configuration()))
    assert joined.count("Join_Lines        On") == 1
    assert joined.index("[INPUT]") < joined.index("Join_Lines") < joined.index("[FILTER]")
    assert "Join_Lines" not in configuration()
