"""Inserts archived rows with a token: ClickHouse ignores a block whose token it knows, in views too."""

import http.client
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence

import pyarrow as pa

from tailrace.archive.readback import TIMEOUT_SECONDS, encoded, refusal
from tailrace.clickhouse.client import ClickHouse, tls_context
from tailrace_verify import rows as canonical_rows

ONE_BLOCK = 1 << 30
SETTINGS: Mapping[str, object] = {
    "async_insert": 0,
    "insert_deduplicate": 1,
    "deduplicate_blocks_in_dependent_materialized_views": 1,
    "max_insert_block_size": ONE_BLOCK,
    "min_insert_block_size_rows": ONE_BLOCK,
    "min_insert_block_size_bytes": 0,
    "max_insert_threads": 1,
    "insert_quorum": "auto",
    "wait_end_of_query": 1,
}
"""Those of the jobs (profile `writer`), and one block for each insert."""


def typed_rows(
    clickhouse: ClickHouse, table: str, types: Mapping[str, str], rows: pa.Table, token: str
) -> None:
    """Inserts rows in the types of the archive. Raises ClickHouseError, OSError."""
    names = canonical_rows.checked_columns(types)
    quoted = ", ".join(f"`{name}`" for name in names)
    body = encoded(rows.select(names).combine_chunks())
    _post(clickhouse, f"INSERT INTO tailrace.{table} ({quoted}) FORMAT ArrowStream", body, token)


def json_rows(
    clickhouse: ClickHouse, table: str, types: Mapping[str, str], lines: Sequence[bytes], token: str
) -> None:
    """Inserts rows in canonical form. Raises ClickHouseError, OSError."""
    quoted = ", ".join(f"`{name}`" for name in canonical_rows.checked_columns(types))
    _post(clickhouse, f"INSERT INTO tailrace.{table} ({quoted}) FORMAT JSONEachRow", b"\n".join(lines), token)


def _post(clickhouse: ClickHouse, query: str, body: bytes, token: str) -> None:
    options = urllib.parse.urlencode({**SETTINGS, "query": query, "insert_deduplication_token": token})
    request = urllib.request.Request(f"{clickhouse.url}/?{options}", body, headers=clickhouse.credentials())
    try:
        context = tls_context(clickhouse.url, clickhouse.authorities)
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS, context=context) as response:
            response.read()
    except urllib.error.HTTPError as error:
        raise refusal(error) from None
    except http.client.HTTPException as error:
        raise ConnectionError(f"{clickhouse.url} closed the connection early: {error!r}") from error
