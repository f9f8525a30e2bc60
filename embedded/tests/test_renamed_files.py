"""Files that users wrote for release 0.1.0 give the same configuration, with a warning for each old name."""

import dataclasses
from pathlib import Path

import pytest
import yaml

from tailrace.alerts.delivery import config
from tailrace.alerts.delivery.config import Email, Selection, Webhook
from tailrace.config.smtp import MailServer
from tailrace.config.yaml_reader import ConfigurationError
from tailrace.dashboards import roles
from tailrace.dashboards.asset_files import AssetError
from tailrace_pages import permissions

OLD = Path(__file__).parent / "release_0_1_0"
HOURLY = "at_most_per_hour"


def channel(**keys) -> dict:
    addresses = {"host": "mail.example.com", "from": "tailrace@example.com", "to": ["soc@example.com"]}
    return {"name": "mail", "kind": "email", **addresses, **keys}


def loaded(directory: Path, *channels: dict) -> config.DeliveryConfig:
    file = directory / "alerts.yaml"
    file.write_text(yaml.safe_dump({"channels": channels}))
    return config.load(file)


def warning(where: object, old: str, new: str) -> str:
    return f"tailrace: warning: {where}: {old} is now called {new}; release 0.3.0 removes the old name"


def test_alerts_yaml_of_an_earlier_release_gives_the_same_channels(capsys):
    selection = Selection("low", ["Dump-like read"], 7200, 7, 1200, 3 * 86_400)
    webhook = Webhook("siem", selection, "https://siem.example.com/hooks/tailrace", OLD / "secret")
    server = MailServer("mail.example.com", 587, "starttls", "tailrace@example.com")
    email = Email(
        "night-shift", Selection("medium", (), 10_800, 8, 1800, 4 * 86_400), server, ["soc@example.com"], 12
    )

    found = config.load(OLD / "alerts.yaml")

    assert found == config.DeliveryConfig("https://tailrace.example.com", [webhook, email])
    first = f"{OLD / 'alerts.yaml'}: channel 1"
    assert warning(first, "repeat", "repeat_interval") in capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("old", config.OLD_NAMES)
def test_an_old_key_of_alerts_yaml_works_with_a_warning(old, tmp_path, capsys):
    value, new = 7 if old == HOURLY else "7m", config.OLD_NAMES[old].name

    assert loaded(tmp_path, channel(**{old: value})) == loaded(tmp_path, channel(**{new: value}))

    where = f"{tmp_path / 'alerts.yaml'}: channel 1"
    assert capsys.readouterr().err.splitlines() == [warning(where, old, new)]


@pytest.mark.parametrize("old", config.OLD_NAMES)
def test_an_old_key_of_alerts_yaml_beside_the_new_one_is_refused(old, tmp_path):
    value, new = 7 if old == HOURLY else "7m", config.OLD_NAMES[old].name
    with pytest.raises(ConfigurationError, match=f"channel 1: {old} is the old name of {new}, and both are"):
        loaded(tmp_path, channel(**{old: value, new: value}))


def test_an_old_key_of_alerts_yaml_is_unknown_where_its_new_one_is(tmp_path):
    (tmp_path / "secret").write_text("secret")
    webhook = {"name": "siem", "kind": "webhook", "url": "https://siem.example.com", "secret_file": "secret"}
    with pytest.raises(ConfigurationError, match=f"unknown key '{HOURLY}'"):
        loaded(tmp_path, {**webhook, HOURLY: 7})


def test_old_keys_of_alerts_yaml_are_no_other_keys():
    keys = {f.name for kind in (Selection, Webhook, Email) for f in dataclasses.fields(kind)}
    assert {new.name for new in config.OLD_NAMES.values()} <= keys
    assert not config.OLD_NAMES.keys() & keys


DOWNLOAD = ("can_csv", "Superset")
SHARE = ("can_share_dashboard", "Superset")


def of_the_release(role: roles.Role) -> roles.Role:
    """The role as it was before there were work pages, when only administrators could download, and nobody
    could share a dashboard."""
    added = {permissions.RESOURCE, *permissions.MENU}
    kept = {each for each in role.permissions if each[1] not in added} - {SHARE}
    return dataclasses.replace(
        role, permissions=frozenset(kept if role.key == roles.ADMIN else kept - {DOWNLOAD})
    )


def test_roles_yaml_of_an_earlier_release_gives_the_same_roles(capsys):
    assert roles.load(OLD / "roles.yaml") == {key: of_the_release(role) for key, role in roles.load().items()}

    expected = [warning("roles.yaml", old, new.name) for old, new in roles.OLD_NAMES.items()]
    assert sorted(capsys.readouterr().err.splitlines()) == sorted(expected)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ("may: [look], permissions: [look]", "may is the old name of permissions, and both are given"),
        ("may: [look, view]", "look is the old name of view, and both are given"),
    ],
)
def test_an_old_name_in_roles_yaml_beside_the_new_one_is_refused(changed, message, tmp_path):
    file = tmp_path / "roles.yaml"
    file.write_text((OLD / "roles.yaml").read_text().replace("may: [look]", changed, 1))
    with pytest.raises(AssetError, match=f"roles.yaml: {message}"):
        roles.load(file)


def test_old_names_in_roles_yaml_are_no_other_names():
    content = yaml.safe_load(roles.FILE.read_text())
    names = {*content["permissions"], *(key for its in content["roles"].values() for key in its)}
    assert {new.name for new in roles.OLD_NAMES.values()} <= names
    assert not roles.OLD_NAMES.keys() & names
