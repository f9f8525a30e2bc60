"""Reviews of logs: the reviewer, the period and the finding. Rows are appended and never changed."""

import re
import uuid
from dataclasses import dataclass

from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.clickhouse.query_files import text_of
from tailrace.errors import ReportedError
from tailrace.evidence.period import Period

ACCOUNT = "auditor"
COLUMNS = "review_id, actor, scope, period_from, period_to, finding, corrects, covers, servers"
EVERYTHING = "all servers and logs"
ALL_SERVERS, NAMED_SERVERS, NOT_STATED = "all servers", "named servers", ""
"""Values of the column `covers`. Reviews without it are older, and count for no day."""
KNOWN_SERVERS = "review_servers"
"""A file of sql/queries."""
NOT_JUDGED = "not judged"
"""The servers of a review that does not state them."""

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
    scope: str = ""
    """What was reviewed, as text; it decides nothing. By default it names the servers."""
    corrects: str = ""
    """A prefix of the id of a wrong review."""
    servers: tuple[str, ...] = ()
    """The servers for which the review counts; all without any."""

    @property
    def covers(self) -> str:
        return NAMED_SERVERS if self.servers else ALL_SERVERS

    @property
    def scope_text(self) -> str:
        return self.scope or (f"servers {', '.join(self.servers)}" if self.servers else EVERYTHING)


def sign(clickhouse: ClickHouse, review: Review) -> str:
    """Appends the review; returns its id, 32 hexadecimal digits. Raises ReviewError, ClickHouseError.

    A server that nobody knows is refused: a review of it would count for nothing.
    """
    _require_known(clickhouse, review)
    id_ = uuid.uuid4()
    row = {
        "review_id": str(id_),
        "actor": review.actor,
        "scope": review.scope_text,
        "period_from": review.period.parameters()["from"],
        "period_to": review.period.parameters()["to"],
        "finding": review.finding,
        "corrects": _resolve(clickhouse, review.corrects) if review.corrects else None,
        "covers": review.covers,
        "servers": sorted(set(review.servers)),
    }
    clickhouse.insert(f"tailrace.reviews ({COLUMNS})", [row])
    return id_.hex


def signed(clickhouse: ClickHouse, period: Period | None = None) -> list[Row]:
    """Returns the reviews that overlap the period, or all, in the order of their signatures."""
    overlaps = OVERLAPS if period else "1"
    return clickhouse.rows(
        f"SELECT {_ID_IS} AS id, toString(at) AS at, actor, scope, toString(period_from) AS period_from, "
        "toString(period_to) AS period_to, finding, "
        "ifNull(lower(replaceAll(toString(corrects), '-', '')), '') AS corrects, account, covers, servers "
        f"FROM tailrace.reviews WHERE {overlaps} ORDER BY reviews.at, id",
        period.parameters() if period else {},
    )


def servers_text(row: Row) -> str:
    """Returns the servers for which a signed review counts: `all servers`, their names, or `not judged`."""
    if row["covers"] == NOT_STATED:
        return NOT_JUDGED
    return ", ".join(row["servers"]) or ALL_SERVERS


def _require_known(clickhouse: ClickHouse, review: Review) -> None:
    if not review.servers:
        return
    rows = clickhouse.rows(text_of(KNOWN_SERVERS), review.period.parameters())
    known = [str(row["instance"]) for row in rows]
    if unknown := [name for name in review.servers if name not in known]:
        raise ReviewError(
            f"no server {unknown[0]!r} is known until the end of the period; "
            f"known are: {', '.join(known) or 'none'}"
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
