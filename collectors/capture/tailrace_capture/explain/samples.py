"""Reads samples from ClickHouse's query_samples, or from a file on a machine that cannot reach ClickHouse.

Samples are unmasked statements. From ClickHouse they are sent over HTTP(S) to the machine next to the server
that ran them, whose log contains them anyway. A file has the keys query_id, database and statement, heaviest
first.
"""

import json
import os
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tailrace_capture.dsn import Password

QUERY = Path(__file__).with_name("heaviest_samples.sql")
TIMEOUT_SECONDS = 30
AUTHORITIES = "TAILRACE_CLICKHOUSE_CA_FILE"
"""The environment variable with a PEM file of the authorities that sign ClickHouse's certificate."""
_QUERY_ID = re.compile(r"[0-9A-F]{16}")


class SamplesError(RuntimeError):
    """No samples could be read; the message states the source."""


@dataclass(frozen=True)
class Sample:
    """One statement as it ran. `query_id` has 16 hexadecimal digits in capitals."""

    query_id: str
    database: str
    statement: str


Samples = Callable[[str, int, Mapping[str, str]], list[Sample]]
"""Returns the heaviest samples of an instance up to a limit, one for each statement. If a database is given
for a `query_id`, the sample is from that database. Raises SamplesError."""


def from_file(file: Path) -> Samples:
    """Reads the file at each call; all its samples belong to the requested instance."""

    def read(instance: str, limit: int, kept: Mapping[str, str]) -> list[Sample]:
        try:
            lines = file.read_text().split("\n")
            return [_sample(json.loads(line)) for line in lines if line.strip()][:limit]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SamplesError(f"{file}: {error}") from error

    return read


def _tls(url: str) -> ssl.SSLContext | None:
    """What verifies the certificate of an `https://` address. Raises OSError."""
    if not url.startswith("https:"):
        return None
    return ssl.create_default_context(cafile=os.environ.get(AUTHORITIES) or None)


def from_clickhouse(url: str, user: str, password: Password) -> Samples:
    """Queries ClickHouse as a user that may read query_events and query_samples, such as explain."""

    def read(instance: str, limit: int, kept: Mapping[str, str]) -> list[Sample]:
        settings = {
            "param_instance": instance,
            "param_limit": str(limit),
            "param_kept": _map(kept),
            "default_format": "JSONEachRow",
            "wait_end_of_query": "1",
        }
        request = urllib.request.Request(
            f"{url}/?{urllib.parse.urlencode(settings)}",
            QUERY.read_bytes(),
            headers={"X-ClickHouse-User": user, "X-ClickHouse-Key": password.text},
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS, context=_tls(url)) as answer:
                text = answer.read().decode(errors="backslashreplace")
            return [_sample(json.loads(line)) for line in text.split("\n") if line]
        except urllib.error.HTTPError as error:
            raise SamplesError(f"{url}: {error.read().decode(errors='replace')[:500]}") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SamplesError(f"{url}: {error}") from error

    return read


def _map(pairs: Mapping[str, str]) -> str:
    """Formats a literal of the type Map(String, String)."""
    return "{" + ",".join(f"{_quoted(key)}:{_quoted(value)}" for key, value in pairs.items()) + "}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _sample(row: Mapping[str, str]) -> Sample:
    query_id = str(row["query_id"]).upper()
    if not _QUERY_ID.fullmatch(query_id):
        raise ValueError(f"query_id must be 16 hexadecimal digits, not {query_id[:40]!r}")
    return Sample(query_id, str(row.get("database") or ""), str(row["statement"]))
