"""A real server whose histograms of statements equal those that capture reads, and its own percentiles."""

from pathlib import Path

import pytest

from e2e.pulling.statement_counters import EACH, READER, SUMMARY, CountingServer
from tailrace_capture import digest_histograms, digests
from tailrace_capture.doctor.accounts import grants_for
from tailrace_capture.server import Server, ServerError

OF_SERVER = (
    "SELECT DIGEST, COUNT_STAR, QUANTILE_95, QUANTILE_99 FROM"
    f" {SUMMARY} WHERE SCHEMA_NAME = 'counted' AND COUNT_STAR > 0"
)
OF_WAITS = (
    "SELECT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'performance_schema'"
    " AND TABLE_NAME LIKE 'events_waits%' AND COLUMN_NAME LIKE '%DIGEST%'"
)


def check_histograms(socket: Path) -> None:
    """Compares the histograms of all digests, and of the heaviest ones, with the server. MySQL 5.7 and
    MariaDB have none."""
    server = CountingServer(socket)
    try:
        assert not server.run(OF_WAITS), "no server counts waits by digest (docs/CAPTURE.md)"
        connection = server.connect()
        if digests.has_samples(connection):
            _check_grants(server, connection)
            _check_all(server, connection)
            _check_heaviest(server, connection)
        else:
            with pytest.raises(ServerError, match=r"MySQL 8\.0 and later only"):
                list(digest_histograms.read(connection))
        connection.close()
    finally:
        server.close()


def _check_grants(server: CountingServer, connection: Server) -> None:
    grants = grants_for(connection.product, f"'{READER}'@'localhost'")
    server.run(*(each.rstrip(";") for each in grants["digests"]))
    list(digests.read_all(connection))
    for read in (digest_histograms.read_all, digest_histograms.read):  # also if no digest is heavy yet
        with pytest.raises(ServerError, match="denied"):
            list(read(connection))
    server.run(*(each.rstrip(";") for each in grants["digest_histograms"]))
    of_new_session = server.connect()
    with pytest.raises(ServerError, match="digests: true"):
        list(digest_histograms.read(of_new_session))
    of_new_session.close()


def _check_all(server: CountingServer, connection: Server) -> None:
    server.work()
    list(digests.read_all(connection))
    facts = [each.attributes for each in digest_histograms.read_all(connection)]
    found = {each["digest"]: _buckets(each["buckets"]) for each in facts if each["db"] == "counted"}
    of_server = {digest: row for digest, *row in server.run(OF_SERVER)}
    assert {digest: sum(buckets.values()) for digest, buckets in found.items()} == {
        digest: count for digest, (count, _, _) in of_server.items()
    }
    for digest, (_, p95, p99) in of_server.items():
        for share, end in ((0.95, p95), (0.99, p99)):
            assert _end_ps(_bucket_of(found[digest], share)) == pytest.approx(float(end), rel=1e-6)


def _check_heaviest(server: CountingServer, connection: Server) -> None:
    """A poll that may read one digest reads the one that took the most time since the last poll."""
    server.run("SELECT SLEEP(0.01)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digest_histograms, "MAX_HEAVIEST", 1)
        server.work()
        list(digests.read(connection))
        (heaviest,) = (each.attributes for each in digest_histograms.read(connection))
    ((digest, count),) = server.run(
        f"SELECT DIGEST, COUNT_STAR FROM {SUMMARY}"
        " WHERE SCHEMA_NAME = 'counted' AND DIGEST_TEXT LIKE '%SLEEP%'"
    )
    buckets = _buckets(heaviest["buckets"])
    assert (heaviest["db"], heaviest["digest"], sum(buckets.values())) == ("counted", digest, count)
    assert float(heaviest["first_seen"]) < float(heaviest["server_at"]) and count < EACH


def _buckets(text: str) -> dict[int, int]:
    return {int(number): int(count) for number, count in (each.split(":") for each in text.split())}


def _bucket_of(buckets: dict[int, int], share: float) -> int:
    """Returns the first bucket with which at least this share of the statements is reached."""
    left = share * sum(buckets.values())
    for number, count in sorted(buckets.items()):
        left -= count
        if left <= 1e-9:
            return number
    raise ValueError(f"no bucket of {buckets}")


def _end_ps(bucket: int) -> float:
    return 10**7 * 10 ** (bucket / 50)
