"""Tests the pages of entities and sessions over HTTP, as a security analyst reads them.

The rows have instances of their own and are removed again, so that other tests of this Superset do not see
them. Times lie hours away from the ends of ranges.
"""

import csv
import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, unquote

import pytest

from dashboards.tests.pages import Visitor, parsed
from dashboards.tests.pages_data import alert_of_pages
from tailrace_pages.entities import addresses
from tailrace_pages.formats import visible

pytestmark = pytest.mark.browser

INSTANCE = "entities-1"
MIDNIGHT = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
YESTERDAY = {
    "from": f"{MIDNIGHT - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}",
    "to": f"{MIDNIGHT:%Y-%m-%dT%H:%M:%SZ}",
}
CLIENT = "198.51.100.7"
TABLES = ("audit_events", "data_access", "receipts", "alerts")
PSEUDONYM, ITS_CLIENT = f"p1-user-{32 * 'a'}", f"p1-client-{32 * 'c'}"
HOSTILE = (
    '<script>alert(1)</script> o\'brien "x"',
    "shop/../a//b\\c",
    "{{ 7 * 7 }}\ttab\nline\x01",
    "100%41?x=1#y~41 журнал",
)


def at(hours: float, seconds: float = 0) -> str:
    """A time of the day before yesterday (negative hours) or of yesterday."""
    return f"{MIDNIGHT - timedelta(days=1) + timedelta(hours=hours, seconds=seconds):%Y-%m-%d %H:%M:%S.%f}"


def event(number: int, time: str, **columns: object) -> dict:
    return {
        "event_id": f"00000000-0000-4000-8000-{number:012x}",
        "event_time": time,
        "cluster": "entities",
        "instance": INSTANCE,
        "source": "audit",
        "event_class": "query",
        "command": "QUERY",
        "verb": "SELECT",
        "user": "eve",
        "ip": CLIENT,
        "host": CLIENT,
        "connection_id": 7,
        **columns,
    }


def rows() -> list[dict]:
    login = {"event_class": "connection", "command": "CONNECT", "verb": ""}
    busy = [event(100 + number, at(9, number / 7), tables_read=["vault.cards"]) for number in range(210)]
    named = [
        event(600 + number, at(14, number), user=name, host=name, ip="", tables_read=[name], connection_id=0)
        for number, name in enumerate(HOSTILE)
    ]
    return [
        event(1, at(-10), **login),
        event(2, at(8), **login, program_name="mysql"),
        event(3, at(10), verb="UPDATE", status=1142, tables_written=["vault.cards"]),
        event(4, at(11), **{**login, "command": "FAILED_CONNECT", "status": 1045}, connection_id=8),
        event(5, at(12), **login, user="mallory"),
        *busy,
        *named,
        event(700, at(16), user=PSEUDONYM, host=ITS_CLIENT, ip=ITS_CLIENT, connection_id=9),
    ]


@pytest.fixture(scope="module")
def filled(stack) -> Iterator[None]:
    admin = stack.clickhouse()
    written = rows()
    admin.insert("tailrace.audit_events", written)
    kept = ("event_id", "event_time", "cluster", "instance", "source", "user", "connection_id", "verb")
    touched = {
        "tables": ["vault.cards"],
        "data_class": ["vault"],
        "data_class_read": ["vault"],
        "src_ip": CLIENT,
    }
    admin.insert(
        "tailrace.data_access",
        [
            {**{name: row[name] for name in kept}, **touched, "action_id": row["event_id"]}
            for row in written
            if row["event_time"].startswith(at(9)[:13])
        ],
    )
    yield
    for table in TABLES:
        admin.execute(f"ALTER TABLE tailrace.{table} DELETE WHERE instance = '{INSTANCE}'", mutations_sync=1)


@pytest.fixture
def analyst(filled, visitors) -> Visitor:
    return visitors["security"]


@pytest.fixture(scope="module")
def text_of(filled, visitors) -> Callable[..., str]:
    """Returns the text of a page for the analyst, by address and arguments. It requests each page once."""

    texts: dict[tuple, str] = {}

    def text(address: str, **arguments: str) -> str:
        path, _, query = address.partition("?")
        asked = (path, *sorted([*parse_qsl(query, keep_blank_values=True), *arguments.items()]))
        if asked not in texts:
            answer = visitors["security"].get(address, **arguments)
            assert answer.status_code == 200, f"{address}: {answer.status_code}"
            texts[asked] = answer.text
        return texts[asked]

    return text


def links(html: str) -> list[str]:
    return [given["href"] or "" for tag, given in parsed(html).tags if tag == "a" and "href" in given]


def words(html: str) -> list[str]:
    return [text.strip() for text in parsed(html).words if text.strip()]


def number(html: str, title: str) -> tuple[str, str]:
    """Returns a headline number and its note."""
    found = words(html)
    place = found.index(title)
    return found[place + 1], found[place + 2]


def test_everything_one_address_did_yesterday(text_of):
    search = text_of("/tailrace/entities/", q="198.51.100", **YESTERDAY)
    (link,) = (each for each in links(search) if each.startswith(f"/tailrace/entities/client/{CLIENT}/"))
    page = text_of(link)
    assert number(page, "Logins")[0] == "2"
    assert number(page, "Refused logins")[0] == "1"
    assert number(page, "Statements")[0] == "211"
    assert number(page, "Errors")[0] == "1"
    (save,) = (each for each in links(page) if "format=csv" in each and "table=records" in each)
    lines = list(csv.DictReader(io.StringIO(text_of(save))))
    assert len(lines) == 214
    assert [line["Time (UTC)"] for line in lines] == sorted(
        (line["Time (UTC)"] for line in lines), reverse=True
    )
    assert {line["User"] for line in lines} == {"eve", "mallory"}


def test_a_page_without_an_alert_leads_to_those_of_30_days(text_of):
    path = f"/tailrace/entities/client/{CLIENT}/"
    found = links(text_of(path, **YESTERDAY))
    (wider,) = (each for each in found if each.endswith("#alerts") and "?" in each)
    assert "range=30d" in wider and "from=" not in wider
    assert "The last 30 days" not in text_of(path, range="30d")


def test_pages_of_records_follow_each_other(text_of):
    path, seen = f"/tailrace/entities/client/{CLIENT}/?{_query(YESTERDAY)}", []
    while path:
        page = text_of(path)
        found = [word for word in words(page) if word.startswith(YESTERDAY["from"][:10])]
        seen.append(
            len([given for tag, given in parsed(page).tags if given.get("href", "").find("/sessions/") > 0])
        )
        assert found
        path = next((given["href"] for tag, given in parsed(page).tags if given.get("rel") == "next"), "")
    assert len(seen) == 2 and sum(seen) == 214


def _query(arguments: dict[str, str]) -> str:
    return "&".join(f"{name}={value}" for name, value in arguments.items())


def test_who_read_a_data_class_in_30_days(text_of):
    search = text_of("/tailrace/entities/", q="vault", range="30d")
    (link,) = (each for each in links(search) if each.startswith("/tailrace/entities/class/vault/"))
    page = text_of(link)
    assert number(page, "Reads")[0] == "210"
    assert [each for each in links(page) if each.startswith("/tailrace/entities/user/eve/")]
    lines = list(csv.DictReader(io.StringIO(text_of("/tailrace/entities/class/vault/", range="30d",
                                                    format="csv", table="users"))))  # fmt: skip
    assert [(line["User"], line["Reads"]) for line in lines] == [("eve", "210")]


def test_a_data_class_lists_its_tables_and_columns_also_without_access(text_of):
    page = words(text_of("/tailrace/entities/class/pci/", range="15m"))
    place = page.index("*.cards")
    assert page[place - 1 : place + 5] == ["pci", "*.cards", "whole tables", "yes", "unknown", "nobody named"]
    assert [each for each in links(text_of("/tailrace/evidence/", framework="pci")) if each.endswith(
        "#patterns") and each.startswith("/tailrace/entities/class/pci/?")]  # fmt: skip
    secret = words(text_of("/tailrace/entities/class/secret/", range="15m"))
    assert "mysql.user.authentication_string" in secret, "of any database"
    gone = " ".join(words(text_of("/tailrace/entities/class/vault/", range="30d")))
    assert "does not have this class" in gone


def test_an_alert_with_a_name_leads_to_the_page_of_its_pseudonym(stack, text_of):
    named = {
        "user": "named",
        "src_ip": "198.51.100.9",
        "entity": {"user": "named"},
        "entity_key": "user=named",
    }
    time = at(16)[:19]
    its = {"event_time": time, "window_from": time, "instance": INSTANCE, "cluster": "entities"}
    row = alert_of_pages(**its, **named, event_ids=[event(700, time)["event_id"]])
    stack.clickhouse().insert("tailrace.alerts", [row], async_insert=0)
    page = text_of(f"/tailrace/alerts/{row['alert_id'].replace('-', '')}/")
    of_name, of_pseudonym, of_client = (
        next(each for each in links(page) if f"/entities/{part}/" in each)
        for part in ("user/named", f"user/{PSEUDONYM}", f"client/{ITS_CLIENT}")
    )
    assert of_pseudonym in links(text_of(of_name)), "the page of the name leads there, too"
    for address in (of_pseudonym, of_client):
        shown = text_of(address)
        assert (number(shown, "Statements")[0], number(shown, "Alerts")[0]) == ("1", "1")
        assert "is stored as a pseudonym" in " ".join(words(shown)) and "Risk score" not in words(shown)
    found = text_of("/tailrace/search/", q=PSEUDONYM, **YESTERDAY)
    assert [each for each in links(found) if f"q=user:{PSEUDONYM}" in unquote(each)]


def test_a_session_and_its_alerts_of_one_connection_id(text_of):
    page = text_of(f"/tailrace/sessions/entities/{INSTANCE}/7/", **YESTERDAY)
    assert number(page, "Logins")[0] == "2"
    assert "Sessions with this connection id: the id starts again when the server restarts" in words(page)
    assert len([each for each in links(page) if f"/sessions/entities/{INSTANCE}/7/?from=" in each]) >= 2


def test_an_entity_without_records_in_the_range_leads_to_its_latest_one(text_of):
    page = text_of(f"/tailrace/entities/client/{CLIENT}/", range="15m")
    assert "No record in this time range." in words(page)
    of_client = f"/tailrace/entities/client/{CLIENT}/?from="
    _fixed_times, link = (each for each in links(page) if each.startswith(of_client))
    assert number(text_of(link), "Statements")[0] == "211"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_from_a_log_is_text_and_has_an_address(text_of, name):
    page = text_of(addresses.entity("user", name, YESTERDAY))
    assert f"User {visible(name)}" in " ".join(parsed(page).words)
    tags = parsed(page).tags
    assert not [given for tag, given in tags if tag == "script" and "src" not in given]
    assert number(page, "Statements")[0] == "1"
    following = [each for each in links(page) if each.startswith("/tailrace/entities/user/")]
    assert following and {_part(each) for each in following} == {_part(addresses.entity("user", name))}
    (client,) = {each for each in links(page) if each.startswith("/tailrace/entities/client/")}
    assert client.startswith(addresses.entity("client", name))
    filtered = next(each for each in following if "kind=statement" in each)
    assert number(text_of(filtered), "Statements")[0] == "1"


def _part(link: str) -> str:
    return link.split("/")[4]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/tailrace/entities/planet/mars/", 400),
        ("/tailrace/entities/user/ann/?range=1y", 400),
        ("/tailrace/entities/user/ann/?before=x", 400),
        ("/tailrace/entities/user/ann/?kind=x", 400),
        ("/tailrace/entities/user/eve/?format=csv&table=x", 400),
        ("/tailrace/entities/user/eve/?format=csv&table=sessions", 400),
        ("/tailrace/entities/user/~FF/", 400),
        ("/tailrace/sessions/entities/entities-1/x/", 400),
        ("/tailrace/sessions/entities/entities-1/99999999999999999999/", 400),
        ("/tailrace/sessions/entities/entities-1/987654321/", 404),
        ("/tailrace/entities/user/nobody%20of%20this%20name/", 404),
    ],
)
def test_a_wrong_address_is_a_sentence(analyst, path, status):
    answer = analyst.get(path)
    assert answer.status_code == status
    assert "Traceback" not in answer.text and "sentence" in answer.text


def test_others_do_not_see_it(filled, visitors):
    path = addresses.entity("user", "eve")
    assert visitors["developer"].get(path).status_code == 403
    assert visitors["developer"].get(f"/tailrace/sessions/entities/{INSTANCE}/7/").status_code == 403
    nobody = Visitor(visitors["developer"].address)
    assert "/login/" in nobody.get(path).headers["Location"]
