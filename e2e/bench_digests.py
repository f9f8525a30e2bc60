"""CPU time that samples of statement digests cost a server, and whether they are right under load:
`make bench-digests`.

A real MySQL 8.0 has this many statements in `events_statements_summary_by_digest`, all of them executed
lately. Capture samples it as the component does, with a connection for each sample, first the counters alone,
then with the histograms; the CPU time is that of mysqld. Then clients execute ordinary statements while the
table is sampled. The counts of all digests must agree with the server's own counter `Com_select`.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pymysql
from pymysql.constants import CLIENT

from e2e.limits import LIMIT_SECONDS
from e2e.mysql import EIGHT, Installation, Server
from tailrace_capture import digest_histograms, digests
from tailrace_capture.dsn import Password, parse
from tailrace_capture.facts import Fact
from tailrace_capture.server import Server as Connection
from tailrace_capture.server import connect

PORT = int(os.environ.get("BENCH_DIGESTS_PORT", "22660"))
PACKET_STATEMENTS = 250
"""Statements that a client sends at once: one by one, the client would need most of the CPU time."""
CLIENTS = 4
MINUTE, HOUR = 60, 3600


def cpu_seconds(server: Server) -> float:
    """Returns the CPU time of mysqld, which the kernel counts in hundredths of a second."""
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def execute(server: Server, statements: list[str]) -> None:
    """Executes statements in one session, several of them in a packet."""
    connection = pymysql.connect(
        unix_socket=str(server.socket), user="root", autocommit=True, client_flag=CLIENT.MULTI_STATEMENTS
    )
    with connection, connection.cursor() as cursor:
        for start in range(0, len(statements), PACKET_STATEMENTS):
            cursor.execute("; ".join(statements[start : start + PACKET_STATEMENTS]))
            while cursor.nextset():
                pass


def sample(server: Server, read: Callable[[Connection], Iterator[Fact]] = digests.read) -> list[Fact]:
    address = parse(f"mysql://root@localhost/?socket={server.socket}")
    connection = connect(address, Password(""), LIMIT_SECONDS, "bench")
    try:
        return list(read(connection))
    finally:
        connection.close()


def selects_in_digests(server: Server) -> int:
    """Returns how many SELECTs the digests have, also those that were not executed lately."""
    return sum(
        int(fact.attributes["statements"])
        for fact in sample(server, digests.read_all)
        if fact.attributes["digest_text"].startswith("SELECT")
    )


def selects(server: Server) -> int:
    ((_, count),) = server.run("SHOW GLOBAL STATUS LIKE 'Com_select'")
    return int(count)


def measure_samples(server: Server, number: int, samples: int) -> None:
    """Prints what a sample costs if this number of statements was executed since the last one."""
    texts = [f"SELECT {each} AS c{each} FROM shop.t WHERE a = {each}" for each in range(number)]
    spent, found = [], 0
    for _ in range(samples):
        execute(server, texts)
        before = cpu_seconds(server)
        found = len(sample(server))
        spent.append(cpu_seconds(server) - before)
    mean, most = sum(spent) / samples, max(spent)
    print(
        f"{found} digests, {samples} samples: mean {mean * 1000:.0f} ms of mysqld, at most {most * 1000:.0f}"
    )
    print(f"a sample each minute: {mean / MINUTE:.2%} of a core")
    if found < number:
        raise RuntimeError(f"{found} digests were read, expected at least {number}")


def measure_histograms(server: Server, number: int, samples: int) -> None:
    """Prints what samples with histograms cost: of the heaviest digests each minute, of all once an hour.

    The statements of each round spread over several buckets, as those of a busy server do.
    """
    texts = [f"SELECT {each} AS c{each} FROM shop.t WHERE a = {each}" for each in range(number)]
    address = parse(f"mysql://root@localhost/?socket={server.socket}")
    memory: dict[str, object] = {}
    spent, found = [], []
    for round_ in range(samples + 1):
        execute(server, texts)
        connection = connect(address, Password(""), LIMIT_SECONDS, "bench")
        connection.memory = memory
        is_full = round_ == 0
        before = cpu_seconds(server)
        list((digests.read_all if is_full else digests.read)(connection))
        facts = list((digest_histograms.read_all if is_full else digest_histograms.read)(connection))
        spent.append(cpu_seconds(server) - before)
        found.append(sum(len(each.attributes["buckets"].split()) for each in facts))
        connection.close()
        heaviest = len(facts)
    full, *polls = spent
    mean = sum(polls) / samples
    print(
        f"of all digests: {full:.2f} s, {found[0]} buckets; with {heaviest} histograms: {mean * 1000:.0f} ms"
    )
    print(f"a poll each minute, all digests hourly: {mean / MINUTE + full / HOUR:.2%} of a core")


def measure_load(server: Server, seconds: float) -> None:
    """Executes statements in several sessions while the counters are sampled. Raises RuntimeError if the sums
    of the digests and the counter of the server differ."""
    counted, read = selects(server), selects_in_digests(server)
    until, began = time.monotonic() + seconds, time.monotonic()

    def work(client: int) -> int:
        done = 0
        while time.monotonic() < until:
            # MySQL adds to a digest without a lock: of statements that sessions share, some are not counted.
            texts = [
                f"SELECT a AS c{client} FROM shop.t WHERE id = {each}" for each in range(PACKET_STATEMENTS)
            ]
            execute(server, texts)
            done += len(texts)
        return done

    with ThreadPoolExecutor(CLIENTS) as clients:
        running = [clients.submit(work, number) for number in range(CLIENTS)]
        samples = sum(1 for _ in sampled_until(server, until))
        executed = sum(each.result() for each in running)
    passed = time.monotonic() - began
    counted, read = selects(server) - counted, selects_in_digests(server) - read
    print(f"{executed} statements, {executed / passed:.0f} a second, {samples} samples meanwhile")
    print(f"counted by the server {counted}, by its digests {read}")
    if counted != read or read < executed:
        raise RuntimeError(f"the server counted {counted}, its digests {read}")


def sampled_until(server: Server, until: float) -> Iterator[int]:
    while time.monotonic() < until:
        yield len(sample(server))
        time.sleep(min(1.0, max(0.0, until - time.monotonic())))


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-digests", description=__doc__)
    parser.add_argument("--digests", type=int, default=10_000)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20, help="duration of the load")
    options = parser.parse_args()
    cache = Path(os.environ.get("TAILRACE_CACHE") or Path.home() / ".cache" / "tailrace")
    with tempfile.TemporaryDirectory() as directory:
        server = Server(Installation.install(EIGHT, cache), Path(directory, "db"), 1, PORT)
        server.create()
        server.start(
            *("--performance-schema-digests-size=20000", "--skip-log-bin"),
            *("--general-log=0", "--slow-query-log=0"),
        )
        try:
            server.run("CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY, a INT, KEY (a))")
            measure_samples(server, options.digests, options.samples)
            measure_histograms(server, options.digests, options.samples)
            measure_load(server, options.seconds)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
