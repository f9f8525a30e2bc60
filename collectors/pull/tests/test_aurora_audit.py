"""Reads the audit files of an Aurora instance, which writes four of them in turn and renames none."""

import itertools
import random
from contextlib import suppress

import pytest
from test_pull_check import Service
from test_rds_reading import Puller, client_of, whole_lines

from e2e.pulling.fake_rds import FakeRds
from tailrace_pull.config import Clients, Entry
from tailrace_pull.log import SeparateFiles
from tailrace_pull.rds import RdsLogs
from tailrace_pull.remote import RemoteError

FILES = "audit/audit.log.*"
STRIPES = 4
SEEDS = 6
LONG_SEEDS = 500


class Aurora:
    """An instance that distributes audit records among four files; it knows what it wrote."""

    def __init__(self, fake: FakeRds, seed: int) -> None:
        self.fake, self.random = fake, random.Random(seed)
        self.written: dict[str, bytes] = {}
        self.puller = Puller(RdsLogs(client_of(fake), "shop-aurora-1", FILES))
        self._numbers, self._lines = itertools.count(1), itertools.count(1)
        self.current = [self.begin(stripe) for stripe in range(STRIPES)]

    def begin(self, stripe: int) -> str:
        name = f"audit/audit.log.{stripe}.2026-11-26-10-{next(self._numbers):05}"
        self.written[name] = b""
        self.fake.write(name, b"")
        return name

    def act(self) -> None:
        choice = self.random.random()
        if choice < 0.08:
            for _ in range(self.random.randrange(1, 12)):
                self.write(self.random.randrange(STRIPES))
        elif choice < 0.1:
            self.rotate(self.random.randrange(STRIPES))
        elif choice < 0.14:
            self.delete()

    def write(self, stripe: int) -> None:
        text = f"1795000000123456,aurora-1,app,10.0.0.9,7,{next(self._lines)},QUERY,shop,'é',0\n".encode()
        if self.random.random() < 0.2:
            text = text[: self.random.randrange(1, len(text) - 10)].decode(errors="ignore").encode()
        self.put(self.current[stripe], text)

    def end(self, stripe: int) -> None:
        self.put(self.current[stripe], b"\n")

    def put(self, name: str, text: bytes) -> None:
        self.written[name] += text
        self.fake.write(name, text)

    def rotate(self, stripe: int) -> None:
        self.end(stripe)
        self.current[stripe] = self.begin(stripe)

    def delete(self) -> None:
        """Deletes an ended file, as the retention does, once it was read."""
        for name in set(self.fake.files) - set(self.current):
            if self.stored(name) == self.written[name]:
                self.fake.remove(name)
                return

    def stored(self, name: str) -> bytes:
        return b"".join(
            lines
            for file in self.puller.state.files
            if file.name == name
            for _, lines in sorted(self.puller.runs.get(file.number, {}).items())
        )


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS, LONG_SEEDS))
def test_records_of_all_files_arrive_once_long(seed: int) -> None:
    check_records(seed)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_records_of_all_files_arrive_once(seed: int) -> None:
    check_records(seed)


def check_records(seed: int) -> None:
    """Pulls 40 times while files grow, begin and are deleted and the service fails, then to the end."""
    chosen = random.Random(seed)
    fake = FakeRds(seed, 5000, chosen.choice((1, 3, 20, 100)), chosen.choice((0, 0.1)))
    server = Aurora(fake, seed)
    fake.between_calls = server.act
    for number in range(40):
        if number == 20:
            server.rotate(0)
        with suppress(RemoteError):
            server.puller.visit(chosen.choice((300, 1 << 20)))
    fake.settle()
    for stripe in range(STRIPES):
        server.end(stripe)
    server.puller.visit_until_read()
    arrived = sorted(
        b"".join(lines for _, lines in sorted(runs.items())) for runs in server.puller.runs.values()
    )
    assert arrived == sorted(content for each in server.written.values() if (content := whole_lines(each)))


def test_growing_files_do_not_hold_up_a_visit():
    """The server writes to all files between any two requests."""
    fake = FakeRds(1, 5000, 100)
    server = Aurora(fake, 1)
    fake.between_calls = lambda: [server.write(stripe) for stripe in range(STRIPES)]
    assert server.puller.visit(max_bytes=2000).bytes > 0


def test_a_new_host_that_uses_a_name_again_has_a_new_file():
    """After a failover the storage of an instance may be another one: its files are gone."""
    fake = FakeRds(1, 5000, 100)
    server = Aurora(fake, 1)
    name = server.current[0]
    server.put(name, b"a long record of the first host\n")
    server.puller.visit_until_read()
    fake.remove(name)
    fake.write(name, b"a new host\n")
    server.puller.visit_until_read()
    contents = [b"".join(runs.values()) for runs in server.puller.runs.values()]
    assert contents == [b"a long record of the first host\n", b"a new host\n"]


def test_an_ended_file_closes_its_signed_range():
    fake = FakeRds(1, 5000, 100)
    server = Aurora(fake, 1)
    server.put(server.current[0], b"old\n")
    fake._now += 7 * 3600 * 1000
    server.put(server.current[1], b"new\n")
    server.puller.visit_until_read()
    is_live = {file.name: file.is_live for file in server.puller.state.files}
    assert (is_live[server.current[0]], is_live[server.current[1]]) == (False, True)


def test_each_file_has_a_path_of_its_own():
    entry = Entry("db", "shop", "audit", "rds", "eu-central-1", "prod", FILES)
    log = entry.log()
    assert isinstance(log, SeparateFiles)
    assert log.live_path == "/rds/eu-central-1/prod/audit"
    fake = FakeRds(1, 5000, 100)
    server = Aurora(fake, 1)
    server.puller.visit()
    assert {log.path(file) for file in server.puller.state.files} == {
        f"/rds/eu-central-1/prod/audit/{name.removeprefix('audit/')}.events" for name in server.current
    }
    assert Clients().logs(entry).logs.is_renamed is False


def test_the_check_names_the_files_of_aurora():
    service = Service()
    service.rds.write("audit/audit.log.0.2026-11-26-10-00", b"x\n")
    (problem,) = [each for each in service.found("rds", "audit") if each.severity == "error"]
    assert problem.fix.startswith("turn the log on, or correct `file`; Aurora: `file: audit/audit.log.*`")
    assert service.problems("rds", "audit", file=FILES) == []
