"""The additions of docker/own-*.yaml to compose.yaml: files of the user."""

import re
import sys

import pytest

from tailrace.archive import __main__ as archive
from tailrace.config.resources import REPOSITORY


def test_own_logs_take_the_place_of_the_demo(compose):
    own = compose("compose.yaml", "own-logs.yaml", variables={"TAILRACE_SOURCES": "/srv/sources.yaml"})[
        "services"
    ]
    assert own["collector-setup"]["command"] == ["tailrace.deployment", "collector"]
    for name in ("collector-setup", "census", "capture", "explain", "pull", "fluentbit", "repair"):
        mounted = {volume["target"]: volume for volume in own[name]["volumes"]}
        assert mounted["/etc/tailrace/sources.yaml"]["source"] == "/srv/sources.yaml"
        assert mounted["/var/log/mysql"]["read_only"]
        assert mounted["/var/lib/tailrace"]["source"] == "collector"
    for name in ("collector-setup", "census", "capture", "explain", "pull"):
        assert own[name]["environment"]["TAILRACE_SOURCES"] == "/etc/tailrace/sources.yaml"
    for name in ("capture", "explain", "pull"):  # option files and password files of servers
        (files,) = (each for each in own[name]["volumes"] if each["target"] == "/etc/tailrace/servers")
        assert files["read_only"] and files["source"] == "./servers"


def test_own_access_reaches_those_who_say_who_sees_what(compose):
    own = compose("compose.yaml", "own-access.yaml", variables={"TAILRACE_ACCESS": "/srv/access.yaml"})
    named = set()
    for name, service in own["services"].items():
        if path := service.get("environment", {}).get("TAILRACE_ACCESS"):
            mounted = {volume["target"]: volume for volume in service["volumes"]}
            assert mounted[path]["source"] == "/srv/access.yaml"
            assert mounted[path]["read_only"]
            named.add(name)
    assert named == {"clickhouse-setup", "evidence", "dashboards"}


def test_own_retention_takes_the_place_of_the_file_of_each_image(compose):
    own = compose(
        "compose.yaml", "own-retention.yaml", variables={"TAILRACE_RETENTION": "/srv/retention.yaml"}
    )
    mounted = {
        name: volume["target"]
        for name, service in own["services"].items()
        for volume in service.get("volumes", [])
        if volume["source"] == "/srv/retention.yaml" and volume["read_only"]
    }
    in_superset = mounted.pop("superset")
    assert set(mounted.values()) == {"/opt/tailrace/sql/retention.yaml"}
    assert in_superset == "/app/tailrace/tailrace/resources/sql/retention.yaml"
    assert mounted.keys() == {"migrations", "command", "repair", "metrics", "api", "evidence"}


def test_own_sso_reaches_superset_only(compose):
    own = compose("compose.yaml", "own-sso.yaml", variables={"TAILRACE_SSO": "/srv/sso.yaml"})["services"]
    reading = {name for name, its in own.items() if "SUPERSET_SSO_FILE" in its.get("environment", {})}
    assert reading == {"superset"}
    mounted = {volume["target"]: volume for volume in own["superset"]["volumes"]}
    file, secrets = mounted[own["superset"]["environment"]["SUPERSET_SSO_FILE"]], mounted["/run/sso"]
    assert file["source"] == "/srv/sso.yaml" and file["read_only"]
    assert secrets["source"] == "./secrets/sso" and secrets["read_only"]
    assert "/var/lib/superset" in mounted, "its own volumes remain"


@pytest.mark.parametrize("address", ["", "s3://bucket/shop"])
def test_own_archive_writes_to_its_volume_or_bucket_with_the_proofs_of_the_log(compose, monkeypatch, address):
    given = {"TAILRACE_ARCHIVE": address} if address else {}
    services = compose("compose.yaml", "own-archive.yaml", variables=given)["services"]
    service, log = services["archive"], services["transparency"]
    module, *words = service["command"]
    monkeypatch.setattr(sys, "argv", [module, *words])
    arguments = archive._arguments()
    assert module == "tailrace.archive"
    assert arguments.archive == service["environment"]["TAILRACE_ARCHIVE"]
    volumes = {volume["target"]: volume["source"] for volume in service["volumes"]}
    assert arguments.archive == (address or "/var/lib/tailrace-archive")
    assert volumes["/var/lib/tailrace-archive"] == "archive"
    (of_log,) = (volume["source"] for volume in log["volumes"] if volume["target"] == "/var/lib/tailrace")
    assert volumes[str(arguments.home)] == of_log
    assert {secret["source"] for secret in service["secrets"]} == {"clickhouse-admin", "clickhouse-auditor"}
    pinned = dict(re.findall(r"(pyarrow|pyiceberg)\S*?==([0-9.]+)", service["build"]["dockerfile_inline"]))
    lock = (REPOSITORY / "embedded/requirements-dev.lock").read_text()
    assert pinned.keys() == {"pyarrow", "pyiceberg"}
    assert all(f"\n{name}=={version} " in lock for name, version in pinned.items())
    assert service["cap_drop"] == ["ALL"] and service["read_only"]
