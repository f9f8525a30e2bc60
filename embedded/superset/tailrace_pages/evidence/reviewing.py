"""The form that signs a review, and the list of signed reviews."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from tailrace.evidence.reviews import ALL_SERVERS, NOT_JUDGED
from tailrace_pages import formats
from tailrace_pages.columns import Column
from tailrace_pages.evidence import periods
from tailrace_pages.time_range import TimeRange

CORRECT = "Correct"
COLUMNS = (
    Column("signed_at", "Signed (UTC)", 20, "time"),
    Column("reviewer", "Reviewer", 12),
    Column("reviewed_from", "From (UTC)", 20, "time"),
    Column("reviewed_to", "To (UTC)", 20, "time"),
    Column(
        "servers_reviewed",
        "Servers",
        14,
        note="The servers for which the review counts; not judged: none stated, it counts for no day",
    ),
    Column("reviewed", "Scope", 14, note="What was reviewed, in words"),
    Column("finding", "Finding", 0, "code"),
    Column("id", "Review", 14, "id"),
    Column("correction", "Correction", 12, link="correction_link", note="A corrected review does not count"),
)


def listed(reviews: Iterable[Mapping[str, Any]], address: Callable[[str], str]) -> list[dict[str, Any]]:
    """Returns the rows of the list; `address` returns the page whose form corrects the review with an id."""
    return [{**row, **_correction(row, address)} for row in reviews]


def _correction(row: Mapping[str, Any], address: Callable[[str], str]) -> dict[str, str]:
    id_, by = _hex(row["review"]), _hex(row["corrected_by"])
    if by:
        return {"id": id_, "correction": f"corrected by {formats.short_id(by)}", "correction_link": ""}
    return {"id": id_, "correction": CORRECT, "correction_link": address(id_)}


def form(
    span: TimeRange,
    servers: Iterable[str],
    reviews: Sequence[Mapping[str, Any]],
    corrects: str,
    now: Any,
    first_day: date | None = None,
) -> dict[str, Any]:
    """Returns what the form contains: whole days for all servers, or the review that it corrects.

    `first_day` is the first day of the period that is not reviewed, None without any: the days begin there.
    """
    names = sorted(set(servers))
    wrong = next((row for row in reviews if corrects and _hex(row["review"]) == _hex(corrects)), None)
    if wrong is None:
        text = periods.texts(periods.whole_days(periods.since_day(span, first_day), now))
        return {"names": names, "chosen": [], "finding": "", "corrects": corrects, **text}
    chosen = [] if wrong["servers_reviewed"] in (ALL_SERVERS, NOT_JUDGED) else wrong["servers"]
    text = periods.texts(TimeRange(wrong["reviewed_from"], wrong["reviewed_to"]))
    given = {"finding": wrong["finding"], "corrects": _hex(wrong["review"])}
    return {"names": sorted({*names, *chosen}), "chosen": chosen, **given, **text}


def signed(given: Mapping[str, str], servers: Sequence[str]) -> dict[str, Any]:
    """Returns the posted form as the evidence service expects it."""
    texts = {name: given.get(name, "") for name in ("from", "to", "finding", "corrects", "covers")}
    return {**texts, "servers": [*servers]}


def in_words(review: Mapping[str, Any]) -> str:
    """Returns the period and the servers of a review that was signed, in words."""
    since, until = (review[name].replace("T", " ").removesuffix("Z") for name in ("from", "to"))
    servers = ALL_SERVERS if review["covers"] == ALL_SERVERS else ", ".join(review["servers"])
    return f"the review from {since} to {until} (UTC) of {servers}"


def _hex(id_: str) -> str:
    return id_.replace("-", "").lower()
