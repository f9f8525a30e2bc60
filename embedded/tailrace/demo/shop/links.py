"""The five links with which the demo ends: one page per story."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from tailrace.demo.shop.times import HOUR, iso

Manifest = Mapping[str, Any]


@dataclass(frozen=True)
class Page:
    """A page and what to see on it. `path` and `text` have {names} of the story in the manifest."""

    story: str
    title: str
    text: str
    path: str
    before: int
    after: int
    """The shown time range: seconds before `from` (or `at`) and after `to` (or `at`) of the story."""


PAGES = (
    Page(
        "dropped_index",
        "A dropped index",
        "The plan of a customer's orders changed at {at} UTC: the median latency is {factor} times as high.",
        "/tailrace/queries/{query_id}/",
        8 * HOUR,
        8 * HOUR,
    ),
    Page(
        "loop",
        "A query in a loop",
        "Since version {version}, one request of {endpoint} runs this statement {repeats} times.",
        "/tailrace/queries/{query_id}/",
        HOUR,
        8 * HOUR,
    ),
    Page(
        "spray",
        "A password spray",
        "{address} tried {accounts} accounts, then logged in as {user} and read the catalogue.",
        "/tailrace/entities/client/{address}/",
        HOUR,
        HOUR,
    ),
    Page(
        "export",
        "An export at night",
        "{user} read {rows} customers at {at} UTC, outside of the usual hours.",
        "/tailrace/entities/user/{user}/",
        12 * HOUR,
        12 * HOUR,
    ),
    Page(
        "gap",
        "A repaired gap in an audit log",
        "{entries} events of {instance}, {from} to {to} UTC, were lost, then shipped again: none is missing.",
        "/superset/dashboard/books/",
        HOUR,
        HOUR,
    ),
)


OVERVIEWS = {
    "developers": "developer-overview",
    "compliance": "compliance-overview",
    "security": "security-overview",
}
"""Audience and slug of the dashboards that a user sees first."""


@dataclass(frozen=True)
class Link:
    """One line of the table: `url` is a path with its query, without host."""

    story: str
    title: str
    text: str
    url: str


def links(manifest: Manifest) -> list[Link]:
    """Returns the links to the stories of a manifest, with the time range of each as filter."""
    stories = manifest["stories"]
    return [_link(page, stories[page.story], manifest) for page in PAGES if page.story in stories]


def overviews(manifest: Manifest) -> dict[str, str]:
    """Returns the paths of the overviews on the day of the stories, by audience. From the menu they show the
    last 24 hours, which lack a part of that day."""
    day = datetime.fromisoformat(manifest["story_day"])
    span = f"'{day:%Y-%m-%dT%H:%M:%S} : {day + timedelta(days=1):%Y-%m-%dT%H:%M:%S}'"
    filters = _native_filters([("time-range", f"(time_range:{span})", f"(value:{span})")])
    return {title: f"/superset/dashboard/{slug}/{filters}" for title, slug in OVERVIEWS.items()}


def _link(page: Page, story: Manifest, manifest: Manifest) -> Link:
    path = page.path.format(**{name: quote(str(value), safe="") for name, value in story.items()})
    filters = _of_dashboard if path.startswith("/superset/") else _of_work_page
    return Link(
        page.story, page.title, page.text.format(**_readable(story)), path + filters(page, story, manifest)
    )


def _of_work_page(page: Page, story: Manifest, manifest: Manifest) -> str:
    start = _seconds(story.get("at") or story["from"]) - page.before
    end = _seconds(story.get("at") or story.get("to") or story["from"]) + page.after
    shown = {"from": max(start, _seconds(manifest["from"])), "to": min(end, _seconds(manifest["to"]))}
    return "?" + urlencode({name: iso(seconds) for name, seconds in shown.items()}, safe=":")


def _of_dashboard(page: Page, story: Manifest, manifest: Manifest) -> str:
    """Superset's native filters in Rison. The ledger has the times of the collection, not of the entries."""
    end = _seconds(manifest["to"])
    span = f"'{iso(end - page.before)[:-1]} : {iso(end + page.after)[:-1]}'"
    filters = [
        ("time-range", f"(time_range:{span})", f"(value:{span})"),
        ("instance", f"(filters:!((col:instance,op:IN,val:!('{story['instance']}'))))",
         f"(label:'{story['instance']}',value:!('{story['instance']}'))"),
    ]  # fmt: skip
    return _native_filters(filters)


def _native_filters(filters: Sequence[tuple[str, str, str]]) -> str:
    """Returns the query of an address with native filters: name, restriction and state of each."""
    states = (
        f"NATIVE_FILTER-{name}:(extraFormData:{extra},filterState:{state},id:NATIVE_FILTER-{name},ownState:())"
        for name, extra, state in filters
    )
    return "?native_filters=" + quote(f"({','.join(states)})", safe="")


def _readable(story: Manifest) -> dict[str, object]:
    """Returns the values for a text: times as 14:10, numbers with separators."""
    return {name: _readable_value(name, value) for name, value in story.items()}


def _readable_value(name: str, value: object) -> object:
    if name in ("at", "from", "to"):
        return str(value)[11:16]
    return f"{value:,}" if isinstance(value, int) else value


def _seconds(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
