"""Tests that Superset imports the complete bundle, and that importing its export changes nothing."""

import base64
import hashlib
import hmac
import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from dashboards.tests.test_roles import everything
from tailrace.dashboards import asset_files
from tailrace.dashboards import assets as dashboard_assets
from tailrace.dashboards import connections as superset_connections
from tailrace.dashboards import roles as dashboard_roles
from tailrace.dashboards.asset import asset_uuid
from tailrace.dashboards.superset_client import Client, SupersetError
from tailrace_local.components import superset

# The first test also starts the stack and installs it on a new machine.
pytestmark = pytest.mark.browser

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
IDENTIFYING = ("column_name", "metric_name", "id", "subject", "column")


@pytest.fixture(scope="module")
def client(stack) -> Client:
    url = f"http://127.0.0.1:{stack.settings.port_superset}"
    return Client(url, superset_connections.ADMINISTRATOR, stack.home.secret(superset_connections.PASSWORD))


def by_uuid(export: bytes) -> dict[str, dict]:
    """Returns the assets of an export by uuid."""
    return {asset["uuid"]: dashboard_assets.lasting(asset) for _, asset in dashboard_assets.assets_of(export)}


@pytest.fixture(scope="module")
def export(client: Client) -> bytes:
    """Returns the export of all assets before the first test. An export takes CPU-seconds."""
    return client.export_assets()


@pytest.fixture(scope="module")
def imported(export: bytes) -> dict[str, dict]:
    """Returns the assets by uuid before the first test."""
    return by_uuid(export)


def uuids(client: Client) -> set[str]:
    """Returns the uuids of all assets of this Superset."""
    kinds = (*dashboard_assets.RESOURCES.values(), "database")
    return {each["uuid"] for kind in kinds for each in client.every(f"/api/v1/{kind}/", ["uuid"])}


def assert_kept(written, found, where: str) -> None:
    """Checks that all written values are present. Superset adds its defaults."""
    if isinstance(written, dict):
        for key, value in written.items():
            assert key in found, f"{where}.{key} is gone"
            assert_kept(value, found[key], f"{where}.{key}")
    elif isinstance(written, list) and written and isinstance(written[0], dict):
        assert_kept(by_name(written), by_name(found), where)
    else:
        assert written == found, where


def by_name(items: list[dict]) -> dict[str, dict]:
    """Returns columns, metrics and filters by their identifying keys, because Superset keeps no order."""
    return {str([item.get(key) for key in IDENTIFYING]): item for item in items}


def test_superset_keeps_what_is_written(imported):
    for file, content in dashboard_assets.compile_assets().items():
        written = {
            key: value for key, value in dashboard_assets.lasting(content).items() if key != "sqlalchemy_uri"
        }
        assert_kept(written, imported[content["uuid"]], file)


def test_a_dashboard_brings_the_titles_of_a_pivot_table(client):
    (dataset,) = (
        each
        for each in client.get("/api/v1/dashboard/data-access/datasets")["result"]
        if "data_class" in {column["column_name"] for column in each["columns"]}
    )
    assert dataset["verbose_map"]["data_class"] == "Data class"


def test_importing_its_own_export_changes_nothing(client, stack, export, imported):
    passwords = {
        file.replace("tailrace", "Tailrace"): word for file, word in database_passwords(stack).items()
    }
    client.import_assets(export, passwords)
    assert by_uuid(client.export_assets()) == imported


def test_applying_deletes_what_has_no_file_and_undoes_what_was_done_by_hand(client, stack, tmp_path):
    """One import of all assets proves both: it takes seven CPU-seconds. A copy of an asset is kept."""
    before, known, chart = everything(client), uuids(client), first_chart(client)
    old, copy = import_more(client, stack, tmp_path / "dashboards")
    assert uuids(client) == known | old | {copy}
    change_by_hand(client, chart["id"])
    changed = everything(client)
    assert all(changed[key] != before[key] for key in ("roles", "permissions", "seen by"))
    superset.Superset(stack.settings, stack.home).provision()
    assert uuids(client) == known | {copy}
    client.delete("chart", copy)
    assert everything(client) == before
    assert first_chart(client)["slice_name"] == chart["slice_name"]


def import_more(client: Client, stack, directory: Path) -> tuple[set[str], str]:
    """Imports assets that have no file, and a copy of one as a user makes it. Returns the uuids of both."""
    more = with_more_files(directory)
    copy = {**more["charts/old_load.yaml"], "uuid": "6a4a9d60-0f3e-4a3c-9d0d-9a4fe1f0a001"}
    copy["dataset_uuid"] = more["datasets/tailrace/load.yaml"]["uuid"]
    more["charts/copy.yaml"] = copy
    added = [file for file in more if Path(file).name.startswith(("old_", "copy"))]
    client.import_assets(dashboard_assets.bundle(with_needed(more, *added)), database_passwords(stack))
    names = (("datasets", "load"), ("charts", "load"), ("dashboards", "books"))
    return {asset_uuid(kind, f"old_{name}") for kind, name in names}, copy["uuid"]


def change_by_hand(client: Client, chart: int) -> None:
    """Takes permissions from a role and a dashboard from all roles, adds a role, and renames a chart."""
    role = next(each for each in client.every(dashboard_roles.ROLES) if each["name"] == "Tailrace developer")
    permissions = client.get(f"{dashboard_roles.ROLES}{role['id']}/permissions/")["result"]
    first = {"permission_view_menu_ids": [permissions[0]["id"]]}
    client.post(f"{dashboard_roles.ROLES}{role['id']}/permissions", first)
    client.post(dashboard_roles.ROLES, {"name": "Tailrace guests"})
    books = client.get("/api/v1/dashboard/books")["result"]["id"]
    client.put(f"/api/v1/dashboard/{books}", {"roles": []})
    client.put(f"/api/v1/chart/{chart}", {"slice_name": "by hand"})


def first_chart(admin: Client) -> dict:
    return min(admin.every("/api/v1/chart/", ["id", "slice_name"]), key=lambda chart: chart["id"])


def database_passwords(stack) -> dict[str, str]:
    connections = superset.connections(stack.settings, stack.home)
    return {f"databases/{name}.yaml": password for name, (_, password) in connections.items()}


def with_more_files(directory: Path) -> dict[str, dict]:
    """Compiles the assets with an additional dataset, chart and dashboard."""
    shutil.copytree(asset_files.DIRECTORY, directory, ignore=shutil.ignore_patterns("tests"))
    changed_copy(directory / "datasets" / "load.yaml", table_name="old load")
    changed_copy(directory / "charts" / "slow_load.yaml", to="old_load", slice_name="old", dataset="old_load")
    changed_copy(directory / "dashboards" / "books.yaml", slug="old-books", dashboard_title="old books")
    return dashboard_assets.compile_assets(directory)


def changed_copy(file: Path, to: str = "", **changes: str) -> None:
    content = {**yaml.safe_load(file.read_text()), **changes}
    (file.parent / f"{to or 'old_' + file.stem}.yaml").write_text(yaml.safe_dump(content))


def with_needed(assets: dict[str, dict], *files: str) -> dict[str, dict]:
    """Returns these assets and all that they refer to. To import all assets takes seven CPU-seconds."""
    file_of = {content["uuid"]: file for file, content in assets.items()}
    found, open_ = set(), list(files)
    while open_:
        found.add(file := open_.pop())
        named = {file_of[uuid] for uuid in UUID.findall(json.dumps(assets[file])) if uuid in file_of}
        open_ += named - found
    return {file: content for file, content in assets.items() if file in found}


def test_a_refused_bundle_names_the_log_command(client):
    assets = with_needed(dashboard_assets.compile_assets(), "charts/slow_load.yaml")
    del assets["charts/slow_load.yaml"]["viz_type"]
    with pytest.raises(SupersetError, match="tailrace logs superset"):
        client.import_assets(dashboard_assets.bundle(assets), {})


NAME_OF_SEARCHED = "Audit events"
USERS = ("searched_100%_a", "searched_100xxa", "other")


@pytest.fixture(scope="module")
def searched(stack) -> Iterator[None]:
    """Inserts audit events of USERS and deletes them before other tests count events."""
    now = {"event_time": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}", "instance": "searched"}
    clickhouse = stack.clickhouse()
    clickhouse.insert("tailrace.audit_events", [{**now, "user": user} for user in USERS], async_insert=0)
    yield
    clickhouse.execute(
        "ALTER TABLE tailrace.audit_events DELETE WHERE instance = 'searched'", mutations_sync=1
    )


@pytest.mark.parametrize(
    ("typed", "found"),
    [("ARCHED", USERS[:2]), ("00%_", USERS[:1]), ("%", USERS[:1]), ("_", USERS[:2]), ("nobody", ())],
)
@pytest.mark.usefixtures("searched")
def test_a_search_in_a_table_finds_a_part_of_a_value(client, typed, found):
    # Its query applies values of this filter itself.
    (dataset,) = [each for each in client.every("/api/v1/dataset/") if each["table_name"] == NAME_OF_SEARCHED]
    asked = {
        "datasource": {"id": dataset["id"], "type": "table"},
        "queries": [
            {
                "columns": ["user"],
                "metrics": [],
                "orderby": [["user", True]],
                "filters": [
                    {"col": "instance", "op": "IN", "val": ["searched"]},
                    {"col": "user", "op": "ILIKE", "val": f"{typed}%"},
                ],
            }
        ],
        "form_data": {"server_pagination": True},
        "force": True,
    }
    (answer,) = client.post("/api/v1/chart/data", asked)["result"]
    assert {row["user"] for row in answer["data"]} == set(found), answer["query"]


def test_a_login_that_has_expired_is_made_again(stack, client):
    kind, token = client._headers["Authorization"].split(" ")
    client._headers["Authorization"] = f"{kind} {expired(token, stack.home.secret(superset.SECRET_KEY))}"
    assert client.get("/api/v1/dashboard/")["count"] > 0
    assert client._headers["Authorization"].split(" ")[1] != token


def expired(token: str, key: str) -> str:
    """Returns the token as Superset would have signed it an hour earlier (RFC 7519)."""
    header, claims, _ = token.split(".")
    decoded = json.loads(base64.urlsafe_b64decode(claims + "=="))
    earlier = {
        name: value - 3600 if name in ("iat", "nbf", "exp") else value for name, value in decoded.items()
    }
    text = f"{header}.{encoded(json.dumps(earlier).encode())}"
    return f"{text}.{encoded(hmac.digest(key.encode(), text.encode(), hashlib.sha256))}"


def encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
