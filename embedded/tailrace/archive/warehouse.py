"""The Iceberg tables of an archive: one for each table of ClickHouse, in plain files.

The file `version-hint.text` of a table names its current metadata, as engines read tables without a catalog.
A catalog in memory registers this metadata for each run, so the archive needs no other state. A commit that
was interrupted before the hint was written leaves metadata that nobody reads; the next commit deletes it.
"""

from collections.abc import Mapping, Sequence

from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.io.pyarrow import parquet_file_to_data_file
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import DayTransform

from tailrace.archive import columns
from tailrace.archive.location import Location
from tailrace.errors import ReportedError
from tailrace_verify.archive_days import TABLES

NAMESPACE = "tailrace"
HINT = "version-hint.text"
ENDING = ".metadata.json"
PARTITION_ID = 1000
PROPERTIES = {
    "write.parquet.compression-codec": "zstd",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "10",
    "write.metadata.metrics.default": "full",
}


class WarehouseError(ReportedError):
    """A table of the archive cannot be read; the message names it."""


class Warehouse:
    """The tables below one location; one process at a time writes them."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._catalog = InMemoryCatalog(
            NAMESPACE, warehouse=location.uri(TABLES), **location.access.properties()
        )
        self._catalog.create_namespace(NAMESPACE)
        self._known: dict[str, Table] = {}

    def table(self, name: str) -> Table | None:
        """Returns a table as its last complete commit left it; None if there is none.

        Raises WarehouseError.
        """
        if name not in self._known and (hint := self._location.read(self._hint(name))) is not None:
            path = self._location.uri(f"{self._folder(name)}/{hint.decode().strip()}{ENDING}")
            try:
                self._known[name] = self._catalog.register_table((NAMESPACE, name), path)
            except (OSError, ValueError, KeyError) as error:
                raise WarehouseError(f"{path} cannot be read: {error}") from None
        return self._known.get(name)

    def prepare(self, name: str, types: Mapping[str, str], time: str) -> Table:
        """Returns a table that has all these columns: creates it, or adds columns."""
        if table := self.table(name):
            return self._widened(name, table, types)
        wanted = columns.schema(types)
        spec = PartitionSpec(
            PartitionField(wanted.find_field(time).field_id, PARTITION_ID, DayTransform(), f"{time}_day")
        )
        created = self._catalog.create_table(
            (NAMESPACE, name), wanted, self._location.uri(f"{TABLES}/{name}"), spec, properties=PROPERTIES
        )
        self._publish(name, created)
        return created

    def append(self, name: str, paths: Sequence[str], properties: Mapping[str, str]) -> str:
        """Adds files in one snapshot, which has these properties; returns the id of the snapshot."""
        table = self.table(name)
        with table.transaction() as transaction:
            added = transaction.update_snapshot(dict(properties)).merge_append()
            for path in paths:
                added.append_data_file(self.data_file(table, path))
            added.commit()
        self._publish(name, table)
        return str(table.current_snapshot().snapshot_id)

    def remove(self, name: str, paths: Sequence[str], properties: Mapping[str, str]) -> None:
        """Removes files from the table, in one snapshot."""
        table = self.table(name)
        wanted = {self._location.uri(path) for path in paths}
        found = [each for each in self._data_files(table) if each.file_path in wanted]
        if not found:
            return
        with table.transaction() as transaction:
            removed = transaction.update_snapshot(dict(properties)).overwrite()
            for each in found:
                removed.delete_data_file(each)
            removed.commit()
        self._publish(name, table)

    def files(self, name: str) -> dict[str, DataFile]:
        """Returns the data files of the current snapshot by path."""
        table = self.table(name)
        found = self._data_files(table) if table else ()
        return {self._location.relative(each.file_path): each for each in found}

    def data_file(self, table: Table, path: str) -> DataFile:
        """Returns the description of a Parquet file, computed from its footer."""
        return parquet_file_to_data_file(table.io, table.metadata, self._location.uri(path))

    def schema(self, name: str) -> Schema:
        return self.table(name).schema()

    def _data_files(self, table: Table) -> list[DataFile]:
        snapshot = table.current_snapshot()
        if snapshot is None:
            return []
        return [
            entry.data_file
            for manifest in snapshot.manifests(table.io)
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)
        ]

    def _widened(self, name: str, table: Table, types: Mapping[str, str]) -> Table:
        known = {field.name for field in table.schema().fields}
        if not (added := {column: type_ for column, type_ in types.items() if column not in known}):
            return table
        with table.update_schema() as update:
            for field in columns.schema(added).fields:
                if field.name in added:
                    update.add_column(field.name, field.field_type, field.doc)
        self._publish(name, table)
        return table

    def _publish(self, name: str, table: Table) -> None:
        """Makes the table's metadata the current one for all readers."""
        current = table.metadata_location.rpartition("/")[2].removesuffix(ENDING)
        self._location.write(self._hint(name), current.encode())
        self._known[name] = table
        number = current.partition("-")[0]
        for path in self._location.names(self._folder(name)):
            other = path.rpartition("/")[2]
            if other.endswith(ENDING) and other.partition("-")[0] >= number and not other.startswith(current):
                self._location.delete(path)

    def _folder(self, name: str) -> str:
        return f"{TABLES}/{name}/metadata"

    def _hint(self, name: str) -> str:
        return f"{self._folder(name)}/{HINT}"
