"""A server of Cloud SQL whose slow log a sink of Cloud Logging writes to objects."""

import itertools
import json
from pathlib import Path
from random import Random

from e2e.pulling.fake_objects import FakeObjects
from e2e.workload.shapes import MySql8
from e2e.workload.statements import ordinary
from e2e.workload.writer import LogWriter

EXPORTED = {
    "instance": "pulled-objects",
    "cluster": "cloud",
    "source": "slowlog",
    "kind": "objects",
    "url": "gs://logs/mysql",
    "db_instance": "prod-1",
}
EXPORTED_PATH = "/objects/gs/logs/mysql/slowlog/prod-1.events"


class ExportingServer:
    """Writes entries, some to each object; its manifest contains what it wrote."""

    def __init__(self, directory: Path, fake: FakeObjects) -> None:
        self._random = Random(9)
        self._fake = fake
        self._shown = 0
        self._numbers = itertools.count()
        self._log = LogWriter(
            MySql8(self._random), EXPORTED["instance"], EXPORTED["cluster"], directory / "log", self._random
        )
        self.manifest = self._log.manifest
        self.manifest.path = EXPORTED_PATH

    def write(self, objects: int) -> None:
        for _ in range(objects):
            records = b"".join(self._record() for _ in range(self._random.randrange(1, 40)))
            self._fake.put(f"mysql/{next(self._numbers):06}_S0.json", records)

    def _record(self) -> bytes:
        self._log.write(ordinary(self._random))
        content = self._log.path.read_bytes()
        text = content[self._shown :].decode()
        self._shown = len(content)
        record = {
            "logName": "projects/shop/logs/cloudsql.googleapis.com%2Fmysql-slow.log",
            "resource": {"type": "cloudsql_database", "labels": {"database_id": "shop:prod-1"}},
            "timestamp": f"{self._fake.now:%Y-%m-%dT%H:%M:%SZ}",
            "insertId": f"{self._shown}",
            "textPayload": text.removesuffix("\n"),
        }
        return json.dumps(record).encode() + b"\n"
