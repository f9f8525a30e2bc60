"""Reads migration files: one statement each, with placeholders for one server, replicas or shards."""

import difflib
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from tailrace.clickhouse import shards
from tailrace.config.resources import ROOT
from tailrace.errors import ReportedError

MIGRATIONS = ROOT / "sql" / "migrations"

DEDUPLICATION_BLOCKS = 10_000

DEDUPLICATION_SECONDS = 7 * 86_400
"""The time for which a replicated server stores block tokens: longer than the longest outage before a
retry."""

REPLICA_PATH = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'"
"""The path of a replicated table in Keeper and the replica's name, of macros of the server. The default path
contains the UUID of a table, which only ON CLUSTER makes equal on all replicas."""

_FILE_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")

PLACEHOLDER = re.compile(r"\{(\w+)(?::(\w+)(\(.*\))?)?\}")

_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)


class MigrationError(ReportedError):
    """The migrations do not fit the database; the message contains the file and a remedy."""


@dataclass(frozen=True)
class Migration:
    """One file of sql/migrations."""

    number: int
    name: str
    text: str

    @property
    def title(self) -> str:
        return f"{self.number:04}_{self.name}"

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def statement(self) -> str:
        return _COMMENT.sub("", self.text).strip()

    @property
    def creates_view(self) -> bool:
        return self.statement.startswith("CREATE MATERIALIZED VIEW")

    @property
    def touches_view(self) -> bool:
        return "MATERIALIZED VIEW" in self.statement or "MODIFY QUERY" in self.statement


@dataclass(frozen=True)
class Dialect:
    """The values of the placeholders in migrations."""

    retention_days: Mapping[str, int]
    cluster: str = ""
    """Name of the cluster; empty for one server."""
    sharded: bool = False
    """Whether the cluster has more than one shard."""
    keeper: bool = True
    """Whether there is a Keeper. Without one, nothing is replicated and each server is migrated
    separately."""
    in_turn: bool = False
    """Whether a replicated cluster is migrated server by server, without ON CLUSTER."""

    def render(self, migration: Migration) -> str:
        """Returns the statement for this kind of database. Raises MigrationError for an unknown
        placeholder."""
        text = PLACEHOLDER.sub(lambda found: self._value(migration, *found.groups("")), migration.statement)
        text = "\n".join(line.rstrip() for line in text.splitlines())
        return shards.in_shard(text) if self.sharded else text

    @property
    def replicated(self) -> bool:
        return self.keeper and (bool(self.cluster) or self.in_turn)

    @property
    def database(self) -> str:
        """The database of the tables that store rows."""
        return shards.SHARD_DATABASE if self.sharded else shards.DATABASE

    def on_cluster(self) -> str:
        return f"ON CLUSTER '{self.cluster}'" if self.replicated and not self.in_turn else ""

    def _value(self, migration: Migration, kind: str, word: str, arguments: str) -> str:
        if kind == "on_cluster":
            return self.on_cluster()
        if kind == "deduplication_window":
            return self._deduplication_window()
        if kind == "engine":
            return self._engine(word, arguments)
        if kind == "retention" and word in self.retention_days:
            return str(self.retention_days[word])
        raise MigrationError(f"{migration.title}: {self._unknown(kind, word)}")

    def _engine(self, word: str, arguments: str) -> str:
        if not self.in_turn:
            return f"{'Replicated' if self.replicated else ''}{word}{arguments}"
        more = f", {arguments[1:-1]}" if arguments.strip("()") else ""
        return f"Replicated{word}({REPLICA_PATH}{more})"

    def _deduplication_window(self) -> str:
        if not self.replicated:
            return f"non_replicated_deduplication_window = {DEDUPLICATION_BLOCKS}"
        return (
            f"replicated_deduplication_window = {DEDUPLICATION_BLOCKS}, "
            f"replicated_deduplication_window_seconds = {DEDUPLICATION_SECONDS}"
        )

    def _unknown(self, kind: str, word: str) -> str:
        known = ["on_cluster", "deduplication_window", "engine:Name"]
        known += [f"retention:{table}" for table in self.retention_days]
        found = f"{kind}:{word}" if word else kind
        nearest = difflib.get_close_matches(found, known, n=1, cutoff=0)[0]
        return f"unknown placeholder {{{found}}}; the nearest known one is {{{nearest}}}"


def load_migrations(directory: Path = MIGRATIONS) -> list[Migration]:
    """Returns the migrations in order. Raises MigrationError for an invalid name or a duplicate number.

    Numbers may be missing: the database's record shows migrations whose files were removed.
    """
    migrations = [_read(path) for path in sorted(directory.iterdir())]
    for one, next_ in pairwise(migrations):
        if one.number == next_.number:
            raise MigrationError(f"{directory}: {one.title} and {next_.title} have the same number")
    return migrations


def _read(path: Path) -> Migration:
    named = _FILE_NAME.fullmatch(path.name)
    if not named:
        raise MigrationError(f"{path}: a migration is named NNNN_name.sql, lower case")
    migration = Migration(int(named[1]), named[2], path.read_text())
    if ";" in migration.statement:
        raise MigrationError(f"{path}: one statement per file, without a semicolon")
    return migration
