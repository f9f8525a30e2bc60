"""Tests the access of each role over Superset's REST API: its dashboards and their data, nothing else.

The matrix is derived from the files of the dashboards.
"""

import json
import re
from collections.abc import Iterator
from itertools import cycle, product, repeat

import pytest
import yaml
from chart_requests import Chart, Person, downloaded, in_its_place, question, status

from tailrace.clickhouse import row_policies
from tailrace.dashboards import asset_files
from tailrace.dashboards import assets as dashboard_assets
from tailrace.dashboards import roles as dashboard_roles
from tailrace.dashboards.superset_client import Client
from tailrace_local.components import superset

pytestmark = pytest.mark.browser

PASSWORD = "a password of the tests"
FORBIDDEN = (401, 403, 404)
DATA_ACCESS = re.compile(
    r"(all_)?(datasource|database|catalog|schema)_access|can_sqllab|can_execute_sql_query"
)
WORDS = re.compile(r"'\w+'|\w+_\w+|\d+ = \d+")
"""Parts of a rule's condition that sqlglot writes as they are: strings, names and comparisons of numbers."""
FORGERIES = 5
"""The number of forged places of a chart."""
RULE = "79f9114f-4482-5833-bdb4-9461f7149011"
LOOKERS = ("developer", "compliance", "security", "unmasked")
ASSETS = asset_files.load()
DASHBOARDS = {asset.content["slug"]: asset for asset in ASSETS if asset.kind == "dashboards"}


@pytest.fixture(scope="module")
def admin(stack) -> Client:
    return superset.Superset(stack.settings, stack.home).client()


@pytest.fixture(scope="module")
def clients(admin, passwords) -> dict[str, Client]:
    """A session of each role's user, and of a user who sees every dashboard."""
    everything = dashboard_roles.load()[dashboard_roles.ADMIN].name
    dashboard_roles.ensure_user(admin, "admin_of_tests", everything, PASSWORD, reset=True)
    users = {key: (key, passwords[key]) for key in LOOKERS}
    users[dashboard_roles.ADMIN] = ("admin_of_tests", PASSWORD)
    return {key: Person(admin.url, *user) for key, user in users.items()}


@pytest.fixture(scope="module")
def charts(admin) -> list[Chart]:
    """Returns every chart of every dashboard."""
    columns = {
        asset.content["table_name"]: asset.content["columns"] for asset in ASSETS if asset.kind == "datasets"
    }
    datasets = {each["id"]: each["table_name"] for each in admin.every("/api/v1/dataset/")}
    found = []
    for slug in DASHBOARDS:
        number = admin.get(f"/api/v1/dashboard/{slug}")["result"]["id"]
        for chart in admin.get(f"/api/v1/dashboard/{slug}/charts")["result"]:
            dataset = int(chart["form_data"]["datasource"].split("__")[0])
            names = tuple(column["column_name"] for column in columns[datasets[dataset]])
            found.append(Chart(number, slug, chart["id"], dataset, names))
    return found


def may(key: str, slug: str) -> bool:
    return key == dashboard_roles.ADMIN or key in DASHBOARDS[slug].content["roles"]


@pytest.mark.parametrize("key", [*LOOKERS, dashboard_roles.ADMIN])
def test_lists_and_opens_its_dashboards_and_no_other(clients, key):
    """Requests each dashboard in one of three ways that Superset authorizes equally."""
    listed = {each["slug"] for each in clients[key].every("/api/v1/dashboard/", ["slug"])}
    assert listed == {slug for slug in DASHBOARDS if may(key, slug)}
    for slug, way in zip(DASHBOARDS, cycle(("", "/charts", "/datasets"))):
        found = status(clients[key].get, f"/api/v1/dashboard/{slug}{way}")
        assert (found == 200) == may(key, slug) and found in (200, *FORBIDDEN), f"{slug}{way}: {found}"


def test_gets_the_data_of_its_dashboards_and_of_no_other(clients, charts):
    """Each role asks for another chart of a dashboard; test_browser.py requests each chart in one role."""
    for slug, (number, key) in product(DASHBOARDS, enumerate(LOOKERS)):
        its = [*{chart.dataset: chart for chart in charts if chart.slug == slug}.values()]
        chart = its[number % len(its)]
        found = status(clients[key].post, "/api/v1/chart/data", in_its_place(chart))
        assert found in ((200,) if may(key, slug) else FORBIDDEN), f"{key}: {chart}: {found}"


@pytest.mark.parametrize("key", LOOKERS)
def test_shares_a_link_whose_filters_do_not_change(admin, clients, charts, key):
    """The menu entry *Share* copies a permanent link; a later choice does not change its filters."""
    numbers = {each["name"]: each["id"] for each in admin.every(dashboard_roles.ROLES)}
    permissions = dashboard_roles._permissions_of(admin, numbers[dashboard_roles.load()[key].name])
    assert ("can_share_dashboard", "Superset") in permissions, "the entry is in the menu"
    path = f"/api/v1/dashboard/{next(chart for chart in charts if may(key, chart.slug)).dashboard}/permalink"
    chosen = [{"dataMask": {"NATIVE_FILTER-time-range": {"filterState": {"value": each}}}} for each in "ab"]
    first, _ = (clients[key].post(path, state)["key"] for state in chosen)
    assert clients[key].get(f"/api/v1/dashboard/permalink/{first}")["state"] == chosen[0]


def test_downloads_the_data_of_its_charts_and_of_no_other(clients, charts):
    """The heading shows that tailrace_chart_csv writes the file; test_hostile_input.py tests its cells.

    `unmasked` is an addition to another role, which has this permission.
    """
    for key in LOOKERS:
        mine = next(chart for chart in charts if may(key, chart.slug))
        foreign = next(chart for chart in charts if not may(key, chart.slug))
        for chart in (mine, foreign):
            asked = in_its_place(chart) | {"result_format": "csv"}
            column = {"expressionType": "SQL", "sqlExpression": "1", "label": '<a href="/x">=1 &amp; 2</a>'}
            asked["queries"][0]["columns"] = [column]
            if chart is foreign or key == "unmasked":
                assert status(downloaded, clients[key], asked) in FORBIDDEN, (key, chart)
            else:
                assert downloaded(clients[key], asked).splitlines()[0] == "'=1 & 2", key


def test_a_dataset_is_readable_only_through_a_dashboard(clients, charts, admin):
    """No role has a permission for data other than its dashboards, and a dashboard queries each dataset."""
    numbers = {each["name"]: each["id"] for each in admin.every(dashboard_roles.ROLES)}
    for key in LOOKERS:
        permissions = dashboard_roles._permissions_of(admin, numbers[dashboard_roles.load()[key].name])
        assert permissions and not [each for each in permissions if DATA_ACCESS.fullmatch(each[0])], key
    for key, chart in zip(cycle(LOOKERS), {chart.dataset: chart for chart in charts}.values()):
        assert status(clients[key].post, "/api/v1/chart/data", question(chart)) in FORBIDDEN, (key, chart)


@pytest.mark.parametrize("key", LOOKERS)
def test_a_forged_place_returns_no_data(clients, charts, key):
    """Tests every forgery for the first dashboard of another role, and one forgery for the others."""
    mine = next(chart for chart in charts if may(key, chart.slug))
    its = {chart.dataset for chart in charts if may(key, chart.slug)}
    foreign = [*{chart.slug: chart for chart in charts if chart.dataset not in its}.values()]
    for chart, number in [
        *zip(repeat(foreign[0]), range(FORGERIES)),
        *zip(foreign[1:], cycle(range(FORGERIES))),
    ]:
        context = forged_places(mine, chart)[number]
        asked = question(chart, **context)
        assert status(clients[key].post, "/api/v1/chart/data", asked) in FORBIDDEN, context


def forged_places(mine: Chart, chart: Chart) -> list[dict[str, object]]:
    """Contexts of a request for the dataset of a chart that the role must not read."""
    return [
        {"slice_id": chart.number},
        {"dashboardId": chart.dashboard},
        {"dashboardId": mine.dashboard, "slice_id": -1},
        {"dashboardId": mine.dashboard, "slice_id": mine.number},
        {"dashboardId": mine.dashboard, "type": "NATIVE_FILTER", "native_filter_id": "NATIVE_FILTER-none"},
    ]


@pytest.mark.parametrize("key", LOOKERS)
def test_a_chart_cannot_be_made_to_ask_another_table(clients, charts, key):
    mine = next(chart for chart in charts if may(key, chart.slug))
    asked = in_its_place(mine)
    secret = "(SELECT any(statement) FROM tailrace.query_samples)"
    asked["queries"][0]["metrics"] = [{"expressionType": "SQL", "sqlExpression": secret, "label": "x"}]
    found = status(clients[key].post, "/api/v1/chart/data", asked)
    assert found >= 400


@pytest.mark.parametrize("key", LOOKERS)
def test_everything_else_is_forbidden(clients, charts, key):
    client = clients[key]
    mine = next(chart for chart in charts if may(key, chart.slug))
    sql = {"database_id": 1, "sql": "SELECT 1", "schema": "tailrace"}
    reads = [
        *("/api/v1/dataset/", f"/api/v1/dataset/{mine.dataset}", "/api/v1/database/", "/api/v1/database/1"),
        *("/api/v1/database/1/tables/", "/api/v1/query/", "/api/v1/saved_query/", "/api/v1/log/"),
        *(dashboard_roles.ROLES, dashboard_roles.USERS, dashboard_roles.RULES),
        *("/api/v1/assets/export/", "/api/v1/report/", "/api/v1/css_template/", "/api/v1/annotation_layer/"),
        f"/api/v1/chart/export/?q=!({mine.number})",
        f"/api/v1/dashboard/export/?q=!({mine.dashboard})",
        f"/api/v1/explore/?slice_id={mine.number}",
        f"/api/v1/datasource/table/{mine.dataset}/column/{mine.columns[0]}/values/",
    ]
    for path in reads:
        assert status(client.get, path) in FORBIDDEN, path
    writes = {
        "/api/v1/sqllab/execute/": sql,
        "/api/v1/dashboard/": {"dashboard_title": "mine"},
        "/api/v1/chart/": {"slice_name": "x", "datasource_id": mine.dataset, "datasource_type": "table"},
        "/api/v1/dataset/": {"database": 1, "table_name": "query_samples", "schema": "tailrace"},
        "/api/v1/database/": {"database_name": "x", "sqlalchemy_uri": "sqlite://"},
        "/api/v1/explore/form_data": {
            "datasource_id": mine.dataset,
            "datasource_type": "table",
            "form_data": "{}",
        },
        "/api/v1/security/guest_token/": {"user": {}, "resources": [], "rls": []},
        f"/datasource/samples?datasource_id={mine.dataset}&datasource_type=table": {},
    }
    for path, content in writes.items():
        assert status(client.post, path, content) in FORBIDDEN, path
    assert status(client.put, f"/api/v1/dashboard/{mine.dashboard}", {"css": ""}) in FORBIDDEN
    assert status(client.put, f"/api/v1/chart/{mine.number}", {"slice_name": "x"}) in FORBIDDEN


def test_a_query_contains_its_user(stack, clients, charts, admin):
    name = "o'brien */ DROP TABLE x; --\n%s {{ 1 }}"
    number = admin.get("/api/v1/security/roles/?q=(page_size:100)")
    role = next(each["id"] for each in number["result"] if each["name"] == "Tailrace unmasked samples")
    person = {"username": name, "first_name": "O", "last_name": "B", "email": "ob@localhost.localdomain"}
    if name not in {each["username"] for each in admin.every(dashboard_roles.USERS)}:
        admin.post(dashboard_roles.USERS, {**person, "password": PASSWORD, "active": True, "roles": [role]})
    chart = next(chart for chart in charts if chart.slug == "samples")
    before = accesses(stack)
    Person(admin.url, name, PASSWORD).post("/api/v1/chart/data", in_its_place(chart))
    mine = [each for each in accesses(stack)[len(before) :] if each["superset_user"] == name]
    assert [each["step"] for each in mine][:2] == ["asked", "shown"]
    assert {(each["dashboard"], each["chart"]) for each in mine} == {(chart.dashboard, chart.number)}
    assert {(each["clickhouse_user"], each["account"]) for each in mine} == {("reader_unmasked", "witness")}


def accesses(stack) -> list[dict]:
    return stack.clickhouse().rows("SELECT * FROM tailrace.unmasked_accesses ORDER BY at, step")


def test_an_unmasked_access_that_cannot_be_recorded_is_refused(stack, clients, charts):
    chart = next(chart for chart in charts if chart.slug == "samples")
    clickhouse = stack.clickhouse()
    clickhouse.execute("RENAME TABLE tailrace.unmasked_looks TO tailrace.unmasked_looks_away")
    try:
        assert status(clients["unmasked"].post, "/api/v1/chart/data", in_its_place(chart)) >= 400
    finally:
        clickhouse.execute("RENAME TABLE tailrace.unmasked_looks_away TO tailrace.unmasked_looks")
    assert status(clients["unmasked"].post, "/api/v1/chart/data", in_its_place(chart)) == 200


def test_nothing_of_the_samples_is_kept_in_a_cache(stack, clients, charts):
    secret = "a literal that must not be kept"
    stack.clickhouse().execute(
        "INSERT INTO tailrace.query_samples (query_id, instance, event_time, statement) "
        f"VALUES (18364758544493064721, 'samples-db-1', now64(6) - 60, 'SELECT ''{secret}''')"
    )
    chart = next(each for each in charts if each.slug == "samples" and "statement" in each.columns)
    asked = in_its_place(chart)
    asked["force"] = False
    asked["queries"][0] |= {
        "columns": ["statement"],
        "filters": [{"col": "query_id", "op": "IN", "val": ["FEDCBA9876543211"]}],
    }
    for _ in range(2):
        answer = clients["unmasked"].post("/api/v1/chart/data", asked)["result"][0]
        assert secret in json.dumps(answer["data"]) and not answer["is_cached"]
    for file in stack.home.data("superset").rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes(), file


def test_applying_twice_changes_nothing_but_the_passwords(stack, admin, charts):
    component = superset.Superset(stack.settings, stack.home)
    before, made = everything(admin), imported_at(admin)
    forgotten = {
        name: (uri, "forgotten")
        for name, (uri, _) in superset.connections(stack.settings, stack.home).items()
    }
    dashboard_assets.apply(admin, forgotten, component.import_record())
    chart = next(chart for chart in charts if chart.slug == "slow-queries")
    assert status(admin.post, "/api/v1/chart/data", in_its_place(chart)) >= 400
    component.provision()
    assert status(admin.post, "/api/v1/chart/data", in_its_place(chart)) == 200
    assert everything(admin) == before
    assert imported_at(admin) == made, "what is as it was imported is not imported again"


def imported_at(admin: Client) -> dict[int, str]:
    """Returns the time of the last change of each chart."""
    columns = ["id", "changed_on_utc"]
    return {chart["id"]: chart["changed_on_utc"] for chart in admin.every("/api/v1/chart/", columns)}


def everything(admin: Client) -> dict[str, object]:
    """Returns all results of apply: roles with permissions, rules, dashboards with roles, asset counts."""
    roles = {each["name"]: each["id"] for each in admin.every(dashboard_roles.ROLES)}
    ours = {name: number for name, number in roles.items() if name.startswith(dashboard_roles.PREFIX)}
    return {
        "roles": ours,
        "permissions": {
            name: dashboard_roles._permissions_of(admin, number) for name, number in ours.items()
        },
        "rules": [(each["name"], each["id"]) for each in admin.every(dashboard_roles.RULES)],
        "seen by": {
            each["slug"]: {role["name"] for role in each["roles"]}
            for each in admin.every("/api/v1/dashboard/", ["slug", "roles.name"])
        },
        "numbers": {
            kind: {each["id"] for each in admin.every(f"/api/v1/{kind}/", ["id"])}
            for kind in dashboard_assets.RESOURCES.values()
        },
    }


@pytest.fixture(scope="module")
def restricted(stack, admin) -> Iterator[None]:
    """Restricts only Superset's layer, because ClickHouse has already read access.yaml.

    The tests that use it are the last ones of a module.
    """
    written = {key: {"instances": ["nobody"]} for key in row_policies.AUDIENCES}
    stack.settings.access.write_text(yaml.safe_dump(written))
    superset.Superset(stack.settings, stack.home).provision()
    yield
    stack.settings.access.unlink()
    dashboard_roles.restrict(admin, dashboard_roles.load(), ASSETS, row_policies.load(stack.settings.access))
    assert rules_of_ours(admin) == []


def rules_of_ours(admin: Client) -> list[dict]:
    rules = admin.every(dashboard_roles.RULES)
    return [each for each in rules if each["name"].startswith(dashboard_roles.PREFIX)]


def test_rows_are_filtered_by_superset_too(clients, charts, admin, restricted):
    """The list of rules has every dataset of each role. Rows are requested once for each rule, and for each
    dataset the statement, which costs a third: it contains the rule's condition."""
    rules = [admin.get(f"{dashboard_roles.RULES}{each['id']}")["result"] for each in rules_of_ours(admin)]
    rule_of = {
        (role["name"], table["id"]): rule["name"]
        for rule in rules
        for role in rule["roles"]
        for table in rule["tables"]
    }
    clauses = {rule["name"]: rule["clause"] for rule in rules}
    names = {key: dashboard_roles.load()[key].name for key in row_policies.AUDIENCES}
    datasets = {each["id"]: each["table_name"] for each in admin.every("/api/v1/dataset/")}
    assert rule_of.keys() >= {(name, dataset) for name in names.values() for dataset in datasets}
    asked: set[object] = set()
    for chart, key in product(charts, names):
        rule = rule_of[names[key], chart.dataset]
        if not may(key, chart.slug) or {chart.dataset, rule} <= asked:
            continue
        if rule in asked:
            wanted = {**in_its_place(chart), "result_type": "query"}
            statement = clients[key].post("/api/v1/chart/data", wanted)["result"][0]["query"]
            words = WORDS.findall(clauses[rule])
            assert words and all(word in statement for word in words), f"{key}: {chart}: {statement}"
        else:
            answer = clients[key].post("/api/v1/chart/data", in_its_place(chart))["result"][0]
            assert answer["data"] == [], f"{key}: {chart}"
        asked |= {chart.dataset, rule}
    # The times of deletion are known without logs.
    first = sorted(charts, key=lambda chart: datasets[chart.dataset] != "Retention")
    seen = next(chart for chart in first if rows(clients["admin"], chart, force=True))
    key = next(key for key in names if may(key, seen.slug))
    assert rows(clients[key], seen, force=False) == [], "neither has the cache the rows of others"


def test_a_restricted_audience_suppresses_no_rule_everywhere(visitors, restricted):
    page, form = f"/tailrace/rules/{RULE}/", {"span": "1 hour", "reason": "noisy"}
    shown = visitors["security"].get(page).text
    assert "No suppression of this rule is active that you may see." in shown
    visitors["security"].submit(f"{page}suppressions/", {**form, "back": page})
    shown = visitors["security"].get(page).text
    assert "must name the instance of the alert" in shown


def test_a_restricted_audience_sees_the_patterns_of_its_databases(visitors, restricted):
    path = "/tailrace/entities/class/secret/?range=90d"
    for role in ("compliance", "security"):
        page, saved = (visitors[role].get(path + more).text for more in ("", "&format=csv&table=patterns"))
        assert "Your role sees only a part of the rows" in page
        for text in (page, saved):
            assert "*.api_keys" in text and "mysql.user" not in text, role


def rows(client: Client, chart: Chart, force: bool) -> list[dict]:
    asked = {**in_its_place(chart), "force": force}
    return client.post("/api/v1/chart/data", asked)["result"][0]["data"]
