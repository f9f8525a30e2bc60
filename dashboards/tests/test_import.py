"""What Superset makes of the bundle: it keeps all of it, and importing its own export changes nothing."""

import io
import zipfile

import pytest
import yaml

from tailrace import dashboards
from tailrace.parts import superset
from tailrace.superset import Client, SupersetError

# The first test also starts the stack, and on a new machine installs it.
pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

KINDS = tuple(f"{kind}/" for kind in dashboards.REQUIRED)
IDENTIFYING = ("column_name", "metric_name", "id", "subject", "column")
GIVEN_ANEW = {"chartId", "chartsInScope", "tabsInScope", "dashboard_page_id"}
"""Numbers of one Superset's own, which it gives anew when it imports."""


@pytest.fixture(scope="module")
def client(stack) -> Client:
    url = f"http://127.0.0.1:{stack.settings.port_superset}"
    return Client(url, superset.ADMINISTRATOR, stack.home.secret(superset.PASSWORD))


def exported(client: Client) -> dict[str, dict]:
    """Assets of this Superset by uuid."""
    archive = zipfile.ZipFile(io.BytesIO(client.export_assets()))
    files = [name for name in archive.namelist() if name.partition("/")[2].startswith(KINDS)]
    assets = [yaml.safe_load(archive.read(name)) for name in files]
    return {asset["uuid"]: lasting(asset) for asset in assets}


def lasting(value):
    """The value without what Superset numbers anew, in every depth."""
    if isinstance(value, dict):
        return {key: lasting(each) for key, each in value.items() if key not in GIVEN_ANEW}
    return [lasting(each) for each in value] if isinstance(value, list) else value


def assert_kept(written, found, where: str) -> None:
    """Everything that was written is found; Superset adds defaults of its own."""
    if isinstance(written, dict):
        for key, value in written.items():
            assert key in found, f"{where}.{key} is gone"
            assert_kept(value, found[key], f"{where}.{key}")
    elif isinstance(written, list) and written and isinstance(written[0], dict):
        assert_kept(by_name(written), by_name(found), where)
    else:
        assert written == found, where


def by_name(items: list[dict]) -> dict[str, dict]:
    """Columns, metrics and filters by what tells them apart; Superset keeps no order."""
    return {str([item.get(key) for key in IDENTIFYING]): item for item in items}


def test_superset_keeps_what_is_written(client):
    found = exported(client)
    for file, content in dashboards.compile_assets().items():
        written = {key: value for key, value in lasting(content).items() if key != "sqlalchemy_uri"}
        assert_kept(written, found[content["uuid"]], file)


def test_importing_its_own_export_changes_nothing(client, stack):
    before = exported(client)
    password = stack.home.secret(superset.password_name(superset.DATABASE_USER))
    client.import_assets(client.export_assets(), {"databases/Tailrace.yaml": password})
    assert exported(client) == before


def test_a_refused_bundle_says_where_to_look(client):
    assets = dashboards.compile_assets()
    del assets["charts/slow_load.yaml"]["viz_type"]
    with pytest.raises(SupersetError, match="tailrace logs superset"):
        client.import_assets(dashboards.bundle(assets), {})
