"""The demo's logs: the watched files, and their content after one and several feeds. Its summary."""

import dataclasses
import json
import os
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.demo import feed as demo_feed
from tailrace.demo import time_shift
from tailrace.ledger.balance import LedgerBalance
from tailrace.ledger.records import Account, LogFile
from tailrace.programs.capture import has_snapshots, spool_of
from tailrace.sources import sources_file
from tailrace_local import demo_summary

HOUR = 3600


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(home=tmp_path, cache=tmp_path, sources=tmp_path / "sources.yaml")


@pytest.fixture
def home(settings) -> Home:
    return Home(settings.home)


def lines_of(home: Home, sample: demo_feed.Sample) -> list[bytes]:
    return sample.watched(home).path.read_bytes().splitlines(keepends=True)


def test_watches_every_sample_once(settings, home):
    assert demo_feed.watch(settings, home)
    assert not demo_feed.watch(settings, home)
    assert [source.path.parent.name for source in sources_file.load(settings.sources)] == [
        sample.instance for sample in demo_feed.FILES
    ]


def test_keeps_the_logs_that_the_user_watches(settings, home):
    settings.sources.write_text("- {instance: mine, source: audit, path: /var/log/audit.log}\n")
    demo_feed.watch(settings, home)

    assert len(sources_file.load(settings.sources)) == 1 + len(demo_feed.FILES)


TEN_MINUTES = 600


@dataclass(frozen=True)
class FedTwice:
    """All samples fed once and, when their logs were ten minutes old, once more."""

    home: Home
    began: float
    ended: float
    """When they were fed for the first time, seconds since 1970."""
    first: dict[str, list[bytes]]
    """Lines by sample file, as they were then."""
    went_on: float
    """What the logs said of their age before the second time, seconds since 1970."""


@pytest.fixture(scope="module")
def fed_twice(tmp_path_factory) -> FedTwice:
    home = Home(tmp_path_factory.mktemp("fed"))
    began = time.time()
    demo_feed.feed(home)
    ended = time.time()
    first = {sample.file: lines_of(home, sample) for sample in demo_feed.FILES}
    went_on = time.time() - TEN_MINUTES
    for sample in demo_feed.FILES:
        os.utime(sample.watched(home).path, (went_on, went_on))
    demo_feed.feed(home)
    return FedTwice(home, began, ended, first, went_on)


@pytest.mark.parametrize("sample", demo_feed.FILES, ids=lambda sample: sample.file)
def test_the_last_entry_is_of_now_and_the_first_of_an_hour_ago(fed_twice, sample):
    first, last = time_shift.time_range(fed_twice.first[sample.file])

    assert fed_twice.began - 5 <= last <= fed_twice.ended
    assert fed_twice.began - HOUR - 5 <= first <= fed_twice.ended - HOUR + 5


@pytest.mark.parametrize("sample", demo_feed.FILES, ids=lambda sample: sample.file)
def test_fed_again_a_log_goes_on_and_does_not_go_back_in_time(fed_twice, sample):
    once = fed_twice.first[sample.file]
    twice = lines_of(fed_twice.home, sample)
    again = twice[len(once) :]

    assert twice[: len(once)] == once
    assert len(again) == len(once)
    assert time_shift.time_range(again)[0] == pytest.approx(fed_twice.went_on, abs=5)


def test_spans_move_with_the_entries_of_their_log(home):
    spans = {span["spanId"]: span for span in spans_of(demo_feed.feed(home))}
    shop = next(sample for sample in demo_feed.FILES if sample.file == demo_feed.SHOP_LOG)
    entries = logged(lines_of(home, shop))

    assert len(entries) > 400
    for span_id, seconds in entries.items():
        assert int(spans[span_id]["startTimeUnixNano"]) / 1e9 == pytest.approx(seconds, abs=2)


def test_spans_keep_their_durations(home):
    written = [
        json.loads(line) for line in (demo_feed.SAMPLES / demo_feed.SHOP_SPANS).read_bytes().splitlines()
    ]
    durations = {
        span["spanId"]: duration(span)
        for message in written
        for of_resource in message["resourceSpans"]
        for of_scope in of_resource["scopeSpans"]
        for span in of_scope["spans"]
    }

    assert {span["spanId"]: duration(span) for span in spans_of(demo_feed.feed(home))} == durations


def spans_of(fed: demo_feed.Fed) -> list[dict]:
    return [
        span
        for message in map(json.loads, fed.spans)
        for of_resource in message["resourceSpans"]
        for of_scope in of_resource["scopeSpans"]
        for span in of_scope["spans"]
    ]


def duration(span: dict) -> int:
    return int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])


def logged(lines: list[bytes]) -> dict[str, int]:
    """The second of each entry that contains its span."""
    found, seconds = {}, 0
    for line in lines:
        if set_to := re.match(rb"SET timestamp=(\d+)", line):
            seconds = int(set_to.group(1))
        if parent := re.search(rb"traceparent='00-[0-9a-f]{32}-([0-9a-f]{16})-", line):
            found[parent.group(1).decode()] = seconds
    return found


def snapshots_of(home: Home) -> list[dict]:
    (file,) = spool_of(home).glob("snapshots-*.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_snapshots_of_a_server_are_from_the_hour_of_its_logs(home):
    now = time.time()
    demo_feed.feed(home)
    snapshots = snapshots_of(home)

    assert snapshots[0]["at"] == pytest.approx(now - HOUR, abs=10)
    assert snapshots[-1]["at"] == pytest.approx(now, abs=10)
    assert all(fact["since"] <= snapshot["at"] for snapshot in snapshots for fact in snapshot["facts"])
    accounts = next(snapshot for snapshot in snapshots if snapshot["kind"] == "accounts")["facts"]
    ages = {
        fact["attributes"]["user"]: now - datetime.fromisoformat(changed).timestamp()
        for fact in accounts
        if (changed := fact["attributes"]["password_changed_at"])
    }
    assert ages["tom"] == pytest.approx(420 * 24 * HOUR, rel=0.01)
    assert ages["shop_web"] == pytest.approx(60 * 24 * HOUR, rel=0.01)


def test_spooled_snapshots_are_shipped_without_a_server_to_poll(settings, home):
    assert not has_snapshots(home, ())
    demo_feed.feed(home)
    assert has_snapshots(home, ())


def test_the_samples_contain_the_errors_that_the_dashboards_show(home):
    now = time.time()
    demo_feed.feed(home)
    stock = next(sample for sample in demo_feed.FILES if sample.file == demo_feed.STOCK_ERRORS)
    log = b"".join(lines_of(home, stock))

    assert log.count(b"Transactions deadlock detected") == 12
    assert log.count(b"Starting crash recovery") == 2
    assert log.count(b"Aborted connection") >= 10
    assert max(int(found) for found in re.findall(rb"History list length (\d+)", log)) > 5000
    times = re.findall(rb"(?m)^(\d{6} \d\d:\d\d:\d\d) \[ERROR\] \S+ got signal", log)
    times += [
        each.replace(b"-", b"")[2:]
        for each in re.findall(rb"(?m)^(\S+ \S+) 0x[0-9a-f]+ INNODB MONITOR OUTPUT", log)
    ]
    assert len(times) == 3
    for each in times:
        at = datetime.strptime(each.decode(), "%y%m%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
        assert now - HOUR < at < now


def test_the_summary_states_the_pending_bytes_of_an_incomplete_entry():
    """The last message of an error log is pending, so there is one entry less than the logs have."""
    numbers = {field.name: 0 for field in dataclasses.fields(Account)} | {"accounted": 900, "entries": 9}
    file = LogFile("db-1", "errorlog", "/error.log", 1)
    for frontier, pending in ((900, ""), (1000, ", 100 B pending")):
        account = Account(**{**numbers, "file": file, "frontier": frontier})
        found = LedgerBalance(datetime.now(UTC), [account], [], [], [], [])
        assert demo_summary._ledger(found) == f"balances: 9 entries of 1 log{pending}, no byte is missing"
