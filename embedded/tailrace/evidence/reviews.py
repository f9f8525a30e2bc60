"""Reviews of logs: the reviewer, the period and the finding. Rows are appended and never changed."""

import re
import uuid
from dataclasses import dataclass

from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.errors import ReportedError
from tailrace.evidence.period import Period

ACCOUNT = "auditor"
COLUMNS = "review_id, actor, scope, period_from, period_to, finding, corrects"
EVERYTHING = "all servers and logs"

OVERLAPS = "reviews.period_from < {to:DateTime('UTC')} AND reviews.period_to > {from:DateTime('UTC')}"

_ID = re.compile(r"[0-9a-f]{1,32}")
_ID_IS = "lower(replaceAll(toString(review_id), '-', ''))"


class ReviewError(ReportedError):
    """The review cannot be signed; the message is shown to the user."""


@dataclass(frozen=True)
class Review:
    """A review to sign. The server adds time and account."""

    actor: str
    period: Period
    finding: str
    scope: str = EVERYTHING
    corrects: str = ""
    """A prefix of the id of a wrong review."""


def sign(clickhouse: ClickHouse, review: Review) -> str:
    """Appends the review; returns its id, 32 hexadecimal digits. Raises ReviewError, ClickHouseError."""
    id_ = uuid.uuid4()
    row = {
        "review_id": str(id_),
        "actor": review.actor,
        "scope": review.scope,
        "period_from": review.period.parameters()["from"],
        "period_to": review.period.parameters()["to"],
        "finding": review.finding,
        "corrects": _resolve(clickhouse, review.corrects) if review.corrects else None,
    }
    clickhouse.insert(f"tailrace.reviews ({COLUMNS})", [row])
    return id_.hex


def signed(clickhouse: ClickHouse, period: Period | None = None) -> list[Row]:
    """Returns the reviews that overlap the period, or all, in the order of their signatures."""
    overlaps = OVERLAPS if period else "1"
    return clickhouse.rows(
        f"SELECT {_ID_IS} AS id, toString(at) AS at, actor, scope, toString(period_from) AS period_from, "
        "toString(period_to) AS period_to, finding, "
        "ifNull(lower(replaceAll(toString(corrects), '-', '')), '') AS corrects, account "
        f"FROM tailrace.reviews WHERE {overlaps} ORDER BY reviews.at, id",
        period.parameters() if period else {},
    )


def _resolve(clickhouse: ClickHouse, prefix: str) -> str:
    wanted = prefix.lower().replace("-", "")
    if not _ID.fullmatch(wanted):
        raise ReviewError(f"{prefix!r} is not the id of a review: expected up to 32 hexadecimal digits")
    rows = clickhouse.rows(
        "SELECT toString(review_id) AS id FROM tailrace.reviews "
        f"WHERE startsWith({_ID_IS}, {{prefix:String}}) LIMIT 2",
        {"prefix": wanted},
    )
    if len(rows) != 1:
        found = f"{prefix} matches the ids of several reviews" if rows else f"there is no review {prefix}"
        raise ReviewError(f"{found}; see: tailrace review list")
    return str(rows[0]["id"])
