"""Settings come from the environment and are validated; an unknown name is reported with the nearest one."""

import dataclasses
import inspect
import re
from pathlib import Path

import pytest

from tailrace.config.resources import REPOSITORY
from tailrace.config.settings import CLOSED, READ_ELSEWHERE, RENAMED, Settings, SettingsError, variable


def test_defaults_are_those_of_the_documented_table():
    settings = Settings.from_environment({"HOME": "/nowhere"})

    assert (settings.port_kafka, settings.port_clickhouse, settings.port_superset) == (19092, 18123, 18088)
    assert settings.sources == settings.home / "sources.yaml"
    assert settings.cache == Path("~/.cache/tailrace").expanduser().resolve()


def test_every_setting_is_documented():
    for field in dataclasses.fields(Settings):
        assert field.metadata["meaning"], f"{field.name} has no meaning in config/settings.py"
        assert field.type is not int or field.metadata["unit"], f"{field.name} is a number without a unit"


def test_every_setting_has_a_type_that_is_read_from_the_environment():
    for field in dataclasses.fields(Settings):
        assert field.type in (int, str, Path), (
            f"{field.name} in config/settings.py: expected the type int, str or Path, found {field.type}; "
            "yes or no is an int from 0 to 1, like sign_logs"
        )


def test_every_setting_is_used():
    files = [
        file
        for package in ("tailrace", "tailrace_local")
        for file in (REPOSITORY / "embedded" / package).rglob("*.py")
        if file != Path(inspect.getfile(Settings))
    ]
    used = {name for file in files for name in re.findall(r"\.(\w+)", file.read_text())}
    unused = {field.name for field in dataclasses.fields(Settings)} - used
    assert not unused, "settings that no component uses; a user would set them without effect"


def test_the_native_port_of_clickhouse_is_closed_by_default():
    assert Settings.from_environment({}).port_clickhouse_native == CLOSED
    for text, expected in (("19009", 19009), ("0", CLOSED)):
        asked = {"TAILRACE_PORT_CLICKHOUSE_NATIVE": text}
        assert Settings.from_environment(asked).port_clickhouse_native == expected


def test_the_cache_follows_xdg():
    assert Settings.from_environment({"XDG_CACHE_HOME": "/var/cache"}).cache == Path("/var/cache/tailrace")


def test_an_empty_variable_means_the_default():
    assert Settings.from_environment({"TAILRACE_PORT_KAFKA": ""}).port_kafka == 19092


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("TAILRACE_PORT_KAFAK", "TAILRACE_PORT_KAFKA"),
        ("TAILRACE_HOME_DIR", "TAILRACE_HOME"),
        ("TAILRACE_port_flink", "TAILRACE_PORT_FLINK"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(name, nearest):
    with pytest.raises(SettingsError, match=f"unknown setting {name}; the nearest known one is {nearest}$"):
        Settings.from_environment({name: "1"})


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("TAILRACE_PORT_KAFKA", "kafka", r"must be a whole number \(TCP port\), not 'kafka'"),
        ("TAILRACE_PORT_KAFKA", "80", "must be from 1024 to 65535 TCP port, not 80"),
        ("TAILRACE_PORT_CLICKHOUSE", "0", "must be from 1024 to 65535 TCP port, not 0"),
        ("TAILRACE_PORT_CLICKHOUSE_NATIVE", "1", "must be 0 or from 1024 to 65535 TCP port, not 1"),
        ("TAILRACE_MEMORY_CLICKHOUSE", "1", "must be at least 512 MiB, not 1"),
    ],
)
def test_an_invalid_value_is_refused(name, text, message):
    with pytest.raises(SettingsError, match=f"{name} {message}"):
        Settings.from_environment({name: text})


def test_settings_are_passed_through_the_environment_of_a_child():
    settings = Settings.from_environment(
        {"TAILRACE_HOME": "/srv/tailrace", "TAILRACE_COMPONENTS": "kafka,flink"}
    )

    assert Settings.from_environment(settings.environment()) == settings
    names = {variable(field) for field in dataclasses.fields(Settings)}
    assert settings.environment().keys() == names | RENAMED.keys()
    assert settings.chosen_components() == {"kafka", "flink"}


OLD = (
    *("TAILRACE_ALERT_GROUP", "TAILRACE_CAPTURE_POLL", "TAILRACE_PARTS", "TAILRACE_RESTART_PAUSE"),
    "TAILRACE_SOURCES_POLL",
)
VALUES = {"TAILRACE_PARTS": "kafka,flink"}
"""Values of renamed settings that are no number."""


@pytest.mark.parametrize("old", OLD)
def test_an_old_name_works_with_a_warning(old, capsys):
    value, new = VALUES.get(old, "7"), RENAMED[old]

    assert Settings.from_environment({old: value}) == Settings.from_environment({new.name: value})

    warning = f"{old} is now called {new.name}; release {new.removed_in} removes the old name"
    assert capsys.readouterr().err == f"tailrace: warning: {warning}\n"


@pytest.mark.parametrize("old", OLD)
def test_an_old_name_beside_the_new_one_is_refused(old):
    value = VALUES.get(old, "7")
    with pytest.raises(SettingsError, match=f"{old} is the old name of {RENAMED[old].name}, and both are"):
        Settings.from_environment({old: value, RENAMED[old].name: value})


def test_old_names_lead_to_settings_and_are_none():
    names = {variable(field) for field in dataclasses.fields(Settings)}
    assert {new.name for new in RENAMED.values()} <= names
    assert RENAMED.keys() == set(OLD)
    assert not RENAMED.keys() & (names | READ_ELSEWHERE.keys())


def test_a_child_does_not_inherit_old_names(capsys):
    outer = {"TAILRACE_PARTS": "kafka", "TAILRACE_ALERT_GROUP": "7"}
    settings = Settings.from_environment(outer)
    capsys.readouterr()

    assert Settings.from_environment({**outer, **settings.environment()}) == settings
    assert not capsys.readouterr().err
