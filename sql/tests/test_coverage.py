"""Tests on a real ClickHouse which minutes and which logs the ledger covers, and which are unknown."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ledger_fixture import NOW, LedgerRows, minutes_ago, read

from tailrace.backfill import ranges
from tailrace.health import metrics as health_metrics
from tailrace.health import rules
from tailrace.ledger import balance as ledger_balance
from tailrace.ledger import formatting as ledger_formatting
from tailrace.sources.sources_file import Source


def test_minutes(admin):
    file = LedgerRows(at=minutes_ago(9)).read(4)
    for ago, size in ((9, 400), (8, 400), (5, 600), (4, 800), (3, 1000)):
        file.census(size, at=minutes_ago(ago))
    file.at = minutes_ago(3)
    file.post("GAP", 400, 500, detail="lost").read(4, begin=500).reached(900, size=1000)

    file.store(admin)
    found = ledger_balance.coverage(admin, minutes_ago(12), minutes_ago(0))
    assert [(s.state, s.minutes, s.grown_bytes, s.behind_bytes, s.missing_bytes) for s in found] == [
        ("unknown", 3, 0, 0, 0),
        ("covered", 2, 400, 0, 0),
        ("unknown", 2, 0, 0, 0),
        ("missing", 1, 200, 0, 100),
        ("covered", 1, 200, 0, 0),
        ("behind", 1, 200, 100, 0),
        ("unknown", 2, 0, 0, 0),
    ]
    assert (found[1].first, found[1].log) == (minutes_ago(9).replace(second=0), "/log/slow.log")


def test_a_minute_is_behind_while_bytes_of_an_earlier_minute_are_unread(admin):
    file = LedgerRows(at=minutes_ago(4)).census(100, at=minutes_ago(5)).read(1)
    file.census(300, at=minutes_ago(4)).reached(200, size=300)
    file.census(300, at=minutes_ago(3)).census(300, at=minutes_ago(2)).store(admin)

    found = ledger_balance.coverage(admin, minutes_ago(5), minutes_ago(1))
    assert [(s.state, s.minutes, s.grown_bytes, s.behind_bytes) for s in found] == [
        ("covered", 1, 100, 0),
        ("behind", 3, 200, 100),
    ]


def test_a_minute_before_the_first_line_is_covered_once_the_lines_came(admin):
    file = LedgerRows(at=minutes_ago(1)).census(300, at=minutes_ago(2), generation=0).read(3)
    file.store(admin)

    found = ledger_balance.coverage(admin, minutes_ago(2), minutes_ago(0))
    assert [(s.state, s.minutes, s.grown_bytes) for s in found] == [("covered", 2, 300)]


def test_a_file_with_the_inode_of_a_deleted_one_within_a_minute_grows_from_its_own_begin(admin):
    minute = minutes_ago(5).replace(second=0)
    file = LedgerRows(at=minute).census(1700, at=minute).census(1700, at=minute + timedelta(seconds=70))
    file.post("FRONTIER", 1700, 1700, amount=0)
    file.census(185, at=minute + timedelta(seconds=90), generation=0)
    file.generation = 2
    file.at = minute + timedelta(seconds=150)
    file.reached(440).store(admin)

    found = ledger_balance.coverage(admin, minute, minute + timedelta(minutes=3))
    assert [(s.state, s.minutes, s.grown_bytes) for s in found] == [("covered", 3, 1700 + 440)]
    at = {"first": f"{minute:%F %T}", "end": f"{minute + timedelta(minutes=3):%F %T}"}
    rows = admin.rows(
        "SELECT grown_bytes FROM tailrace.coverage_1m(first_minute = {first:DateTime('UTC')}, "
        "end_minute = {end:DateTime('UTC')}, server = '', kinds = []) ORDER BY second",
        at,
    )
    assert [row["grown_bytes"] for row in rows] == [1700, 185, 255]


def test_coverage_does_not_depend_on_the_range(admin):
    begin = minutes_ago(180).replace(minute=50, second=0)
    file = LedgerRows(at=begin)
    for minute in range(25):
        file.census(100 * minute + 100, at=begin + timedelta(minutes=minute), generation=minute and 1)
    file.post("FRONTIER", 0, 2000, amount=0).post("GAP", 1050, 1150, detail="lost").store(admin)

    def states(first: int, end: int) -> list[str]:
        found = ledger_balance.coverage(
            admin, begin + timedelta(minutes=first), begin + timedelta(minutes=end)
        )
        return [each.state for each in found for _ in range(each.minutes)]

    whole = states(-5, 30)
    expected = {"unknown": 10, "covered": 18, "missing": 2, "behind": 5}
    assert {state: whole.count(state) for state in expected} == expected
    for first, end in ((0, 25), (3, 12), (9, 11), (10, 12), (11, 25), (19, 22)):
        assert states(first, end) == whole[first + 5 : end + 5], (first, end)


def test_a_log_that_no_census_has_ever_seen_is_unknown_not_quiet(admin):
    file = LedgerRows(at=minutes_ago(3)).post("ENTRY", 0, 300, count=3)
    file.post("FRONTIER", 300, 300, count=0, amount=0).store(admin)

    found = ledger_balance.coverage(admin, minutes_ago(5), minutes_ago(0))
    assert [(s.state, s.minutes, s.log) for s in found] == [("unknown", 5, "/log/slow.log")]


KEY = ("db1", "slowlog", "/log/slow.log")


def without_census(at: datetime = NOW) -> LedgerRows:
    """Three entries of a log without a census."""
    file = LedgerRows(at=at).read(3)
    file.ledger = [row for row in file.ledger if row["kind"] != "CENSUS"]
    return file


def fresh(instance: str = "db1") -> LedgerRows:
    """The current time, not the start of the first test: a census is outdated after five minutes."""
    return LedgerRows(instance, at=datetime.now(UTC))


def read_listed(clickhouse, *keys: tuple[str, str, str], instance: str = "") -> ledger_balance.LedgerBalance:
    listed = dict.fromkeys(keys or [KEY], minutes_ago(9).timestamp())
    return ledger_balance.read(clickhouse, instance, patience_seconds=0, listed=listed)


def test_a_log_without_a_census_is_unknown_and_not_complete(admin, capsys):
    found = read(admin, without_census())

    assert found.balances and not found.is_complete
    assert [(log.instance, log.log, log.census_at) for log in found.unknown] == [("db1", "/log/slow.log", 0)]
    ledger_formatting.show(found)
    out = capsys.readouterr().out
    assert "The received lines balance; their completeness is unknown." in out
    assert "db1 slowlog /log/slow.log: its lines arrive without any census" in out
    assert "The ledger balances" not in out
    assert json.loads(json.dumps(found.to_json()))["unknown"][0]["census_at"] is None


def test_a_listed_log_that_never_came_is_unknown(admin, capsys):
    found = read_listed(admin, instance="db1")

    assert not found.is_complete and not found.hold_anything
    assert [log.why for log in found.unknown] == ["it is listed, and nothing of it has arrived"]
    ledger_formatting.show(found)
    assert "The ledger is empty." in (out := capsys.readouterr().out)
    assert "The ledger balances" not in out


def test_an_empty_log_that_the_census_sees_is_known(admin):
    fresh().census(0, generation=0).store(admin)

    assert read_listed(admin).unknown == []


def test_only_the_logs_of_the_selected_server_are_listed(admin):
    fresh().read(3).store(admin)

    assert read_listed(admin, KEY, ("db2", "slowlog", "/b"), instance="db1").is_complete
    assert [log.instance for log in read_listed(admin, KEY, ("db2", "slowlog", "/b")).unknown] == ["db2"]


def test_a_log_of_one_kind_does_not_cover_another_of_its_server(admin):
    LedgerRows().read(3).store(admin)
    other = without_census()
    for row in (*other.ledger, *other.events):
        row["log"] = "/log/other.log"
    other.store(admin)

    assert [log.log for log in ledger_balance.read(admin, patience_seconds=0).unknown] == ["/log/other.log"]


def test_a_pattern_is_seen_once_one_of_its_files_is(admin):
    fresh().read(3).store(admin)

    assert read_listed(admin, ("db1", "slowlog", "/log/*.log")).unknown == []


def test_lines_long_after_the_last_census_are_unknown(admin):
    LedgerRows(at=minutes_ago(10)).read(3).store(admin)
    without_census().store(admin)

    (log,) = ledger_balance.read(admin, patience_seconds=0).unknown
    assert log.why == "its lines arrived after the last census"


def test_a_listed_log_of_which_no_census_comes_any_more_is_unknown(admin):
    LedgerRows(at=minutes_ago(10)).read(3).store(admin)

    assert ledger_balance.read(admin, patience_seconds=0).unknown == []  # nobody says that it is watched
    (log,) = read_listed(admin).unknown
    assert log.why == "it is listed, and its last census is old"


def test_waits_for_the_census_of_a_listed_log(admin):
    LedgerRows(at=NOW + timedelta(hours=1)).read(3).store(admin)
    missing = ("db1", "slowlog", "/log/other.log")
    found = ledger_balance.balance(admin, wait_seconds=0, listed={KEY: 0, missing: 0})

    assert found.covers(NOW.timestamp()) and found.unknown


def firing(admin, listed: dict[tuple[str, str, str], float]) -> list[str]:
    (rule,) = [rule for rule in rules.load() if rule.name == "TailraceCensusMissing"]
    return [
        found.summary for found in rules.firing([rule], health_metrics.ledger_metrics(admin, listed=listed))
    ]


def test_a_log_without_a_census_raises_an_alert(admin):
    without_census(at=minutes_ago(9)).store(admin)
    fresh("db2").read(3).store(admin)
    absent = ("db3", "audit", "/log/audit.log")
    seen = ("db2", "slowlog", "/log/slow.log")
    listed = {absent: minutes_ago(9).timestamp(), seen: minutes_ago(9).timestamp()}

    db1, db3 = firing(admin, listed)
    assert db1.startswith("db1's /log/slow.log has had no census for ")
    assert db3.startswith("db3's /log/audit.log has had no census for ")
    (still,) = firing(admin, dict.fromkeys(listed, datetime.now(UTC).timestamp()))
    assert still.startswith("db1's /log/slow.log has had no census for ")


def test_a_log_that_nobody_watches_any_more_raises_no_alert_and_stays_unknown(admin):
    without_census(at=NOW - timedelta(days=9)).store(admin)

    assert firing(admin, {}) == []
    assert not ledger_balance.read(admin, patience_seconds=0).is_complete


def untouched(clickhouse, path: Path) -> list[tuple[str, str]]:
    found = ranges.unread_files(clickhouse, [Source("db1", "slowlog", path, "shop")], NOW.timestamp())
    return [(file.path.name, file.why) for file in found]


def test_files_of_which_nothing_came_are_named_before_nothing_is_said_to_be_missing(admin, tmp_path):
    long_ago = minutes_ago(30).timestamp()
    names = (
        "slow.log",
        "slow.log.1",
        "slow.log.2",
        "slow.log.3",
        "slow.log.4.gz",
        "slow.log.5",
        "slow.log.6",
    )
    for name in names:
        (tmp_path / name).write_text(
            "" if name == "slow.log.5" else "half" if name == "slow.log.6" else "x\n"
        )
        os.utime(tmp_path / name, (long_ago, long_ago))
    inode = {name: (tmp_path / name).stat().st_ino for name in names}
    path = tmp_path / "slow.log"
    log = str(path)
    LedgerRows(log=log).census(2, inode=inode["slow.log"]).store(admin)
    LedgerRows(log=log).census(2, generation=0, inode=inode["slow.log.1"]).store(admin)

    assert untouched(admin, path) == [
        ("slow.log.1", ranges.NO_LINE),
        ("slow.log.2", ranges.NO_CENSUS),
        ("slow.log.3", ranges.NO_CENSUS),
    ]
    os.utime(tmp_path / "slow.log.3")
    assert ("slow.log.3", ranges.NO_CENSUS) not in untouched(admin, path)  # it may be on its way
