"""Tests the ledger on a real ClickHouse: correct files balance, all kinds of errors have their position."""

import json
import threading
from datetime import UTC, datetime, timedelta

import pytest
from ledger_fixture import NOW, LedgerRows, minutes_ago, read

from e2e.limits import LIMIT_SECONDS
from tailrace.cli.commands import ledger as ledger_command
from tailrace.ledger import balance as ledger_balance
from tailrace.ledger import formatting as ledger_formatting
from tailrace.ledger.records import LogFile

FILE = LogFile("db1", "slowlog", "/log/slow.log", 1)
PARSED = "entries of the framer against events and dead letters of the parser"
STORED = "entries against stored events and dead letters"


def faults(clickhouse, file: LedgerRows) -> list[str]:
    return [str(wrong) for wrong in read(clickhouse, file).imbalances]


def test_a_ledger_that_balances(admin):
    found = read(admin, LedgerRows().read(10))

    (account,) = found.accounts
    assert found.balances and found.is_complete
    assert (account.file, account.entries, account.events) == (FILE, 10, 10)
    assert (account.size, account.frontier, account.accounted) == (1000, 1000, 1000)
    assert (account.pending, account.behind) == (0, 0)
    assert (found.gaps, found.unread, found.details) == ([], [], [])


def test_an_empty_ledger_balances(admin):
    assert ledger_balance.read(admin).balances


def test_pending_and_behind(admin):
    file = LedgerRows().read(10).reached(1000, frontier=1050, size=1200)
    found = read(admin, file)

    assert found.balances and not found.is_complete
    assert (found.accounts[0].pending, found.accounts[0].behind, found.behind) == (50, 150, 150)


def test_an_event_that_was_refused_is_a_dead_letter_of_the_sink(admin):
    file = LedgerRows().post("ENTRY", 0, 300, count=3).post("EVENT", 0, 300, count=3, stage="PARSER")
    file.store_events(0, 1).store_events(200, 1).reached(300)
    file.post("EVENT", 100, 200, count=-1, amount=-100, stage="PARSER")
    file.reject(100, 200, "SINK", "REFUSED_BY_STORE")
    found = read(admin, file)

    assert found.balances
    (account,) = found.accounts
    assert (account.entries, account.events, account.dead_letters) == (3, 2, 1)
    assert [(d.stage, d.detail, d.count, d.bytes) for d in found.details] == [
        ("SINK", "REFUSED_BY_STORE", 1, 100)
    ]


def test_a_refused_event_without_its_dead_letter_does_not_balance(admin):
    file = LedgerRows().read(3)
    file.post("EVENT", 100, 200, count=-1, amount=-100, stage="PARSER")
    file.post("DEAD_LETTER", 100, 200, stage="SINK", detail="REFUSED_BY_STORE")
    found = "\n".join(faults(admin, file))
    assert "events posted against rows inserted: expected 2 rows, found 3" in found
    assert "dead letters of the sink posted against rows inserted: expected 1 row, found 0" in found


def test_framing_and_dead_letters_are_part_of_the_tiling(admin):
    file = LedgerRows().post("FRAMING", 0, 60, detail="BANNER").reject(60, 75, "FRAMER", "STRAY_TEXT")
    file.read(3, begin=75)
    found = read(admin, file)

    assert found.balances
    assert {(d.kind, d.detail, d.count, d.bytes) for d in found.details} == {
        ("FRAMING", "BANNER", 1, 60),
        ("DEAD_LETTER", "STRAY_TEXT", 1, 15),
    }


def test_a_dead_letter_of_the_parser_takes_the_place_of_an_event(admin):
    file = LedgerRows().read(3)
    file.post("ENTRY", 300, 400).reject(300, 400, "PARSER", "MALFORMED_HEADER").reached(400)

    assert faults(admin, file) == []


def test_a_gap_balances_and_is_missing(admin):
    file = LedgerRows().read(3).post("GAP", 300, 500, detail="lost").read(2, begin=500)
    found = read(admin, file)

    assert found.balances and not found.is_complete
    assert [(gap.kind, gap.from_offset, gap.to_offset, gap.bytes) for gap in found.gaps] == [
        ("lost", 300, 500, 200)
    ]


def test_a_filled_gap_is_gone(admin):
    file = LedgerRows().read(3).post("GAP", 300, 500, detail="lost").read(2, begin=500)
    file.post("GAP", 300, 500, count=-1, amount=-200, detail="lost").read(2, begin=300)
    found = read(admin, file)

    assert found.balances and found.is_complete


def test_a_gap_that_is_filled_in_part_stays_open_for_the_rest(admin):
    file = LedgerRows().read(3).post("GAP", 300, 600, detail="lost").read(1, begin=600)
    file.post("GAP", 400, 500, count=-1, amount=-100, detail="lost").read(1, begin=400)
    found = read(admin, file)

    assert found.balances
    assert [(gap.from_offset, gap.to_offset) for gap in found.gaps] == [(300, 400), (500, 600)]


def test_neighbouring_gaps_of_one_kind_are_one(admin):
    file = LedgerRows().post("GAP", 0, 100, detail="lost").post("GAP", 100, 300, detail="lost")
    file.post("GAP", 300, 400, detail="oversize").read(1, begin=400)

    found = read(admin, file).gaps
    assert [(gap.kind, gap.from_offset, gap.to_offset) for gap in found] == [
        ("lost", 0, 300),
        ("oversize", 300, 400),
    ]


def test_a_dead_letter_that_was_taken_back(admin):
    file = LedgerRows().read(3).reject(300, 350, "FRAMER", "INCOMPLETE").post("GAP", 350, 400, detail="lost")
    file.read(1, begin=400)
    file.take_back(300, 350, "FRAMER", "INCOMPLETE")
    file.post("GAP", 350, 400, count=-1, amount=-50, detail="lost").read(1, begin=300)
    found = read(admin, file)

    assert found.balances and not found.details


def test_bytes_that_came_again_and_differ_are_no_part_of_the_tiling(admin):
    file = (
        LedgerRows().read(3).reject(100, 200, "FRAMER", "OFFSET_CONFLICT").post("DUPLICATE", 0, 300, count=9)
    )
    found = read(admin, file)

    assert found.balances
    assert (found.accounts[0].duplicates, found.accounts[0].duplicate_bytes) == (9, 300)


def test_a_hole_in_the_tiling(admin):
    file = LedgerRows().read(3).read(2, begin=500)

    assert faults(admin, file) == [
        f"{FILE} in bytes 300..500: nothing was posted: expected 200 bytes, found 0"
    ]


def test_a_hole_at_the_start_and_one_at_the_end(admin):
    file = LedgerRows().read(3, begin=100).reached(450)

    assert [(w.from_offset, w.to_offset) for w in read(admin, file).imbalances] == [(0, 100), (400, 450)]


def test_a_range_that_was_posted_twice(admin):
    file = LedgerRows().read(5).post("ENTRY", 300, 500, count=2)

    assert faults(admin, file)[0] == (
        f"{FILE} in bytes 300..500: posted more than once (ENTRY): expected 200 bytes, found 400"
    )


def test_ranges_that_overlap(admin):
    file = LedgerRows().read(5).post("FRAMING", 450, 460, detail="BLANK")

    assert faults(admin, file) == [
        f"{FILE} in bytes 450..460: posted more than once (ENTRY, FRAMING): expected 10 bytes, found 20"
    ]


def test_a_gap_that_was_taken_back_twice(admin):
    file = LedgerRows().read(3).post("GAP", 300, 400, detail="lost").reached(400)
    for _ in range(2):
        file.post("GAP", 300, 400, count=-1, amount=-100, detail="lost")

    assert faults(admin, file) == [
        f"{FILE} in bytes 300..400: reversed more often than posted (GAP): expected 100 bytes, found -100"
    ]


def test_a_posting_whose_bytes_are_not_its_range(admin):
    file = LedgerRows().post("FRAMING", 0, 10, amount=9, detail="BLANK").read(3, begin=10)

    assert faults(admin, file) == [
        f"{FILE} in bytes 0..10: the number of bytes differs from the length of the range (FRAMING): "
        "expected 10 bytes, found 9"
    ]


def test_a_reversal_without_what_replaces_it(admin):
    file = LedgerRows().read(3).post("GAP", 300, 500, detail="lost").read(1, begin=500)
    file.post("GAP", 300, 500, count=-1, amount=-200, detail="lost")

    assert faults(admin, file) == [
        f"{FILE} in bytes 300..500: all postings were reversed (GAP): expected 200 bytes, found 0"
    ]


def test_postings_beyond_the_frontier(admin):
    file = LedgerRows().read(3)
    file.post("FRAMING", 300, 310, detail="BLANK")

    assert faults(admin, file) == [
        f"{FILE} in bytes 300..310: posted beyond the end of the file's account (FRAMING): "
        "expected 0 bytes, found 10"
    ]


def test_an_entry_that_the_parser_lost(admin):
    file = LedgerRows().read(3).post("ENTRY", 300, 400).reached(400).read(2, begin=400)

    assert faults(admin, file) == [
        f"{FILE}: {PARSED}: expected 6 rows, found 5",
        f"{FILE}: {PARSED}: expected 600 bytes, found 500",
        f"{FILE} in bytes 300..400: {STORED}: expected 1 row, found 0",
    ]


def test_events_that_were_not_inserted(admin):
    file = LedgerRows().read(3)
    file.post("ENTRY", 300, 500, count=2).post("EVENT", 300, 500, count=2, stage="PARSER")
    file.store_events(300, 1).reached(500)

    assert faults(admin, file) == [
        f"{FILE} in bytes 300..500: {STORED}: expected 2 rows, found 1",
        f"{FILE}: events posted against rows inserted: expected 5 rows, found 4",
        f"{FILE}: events posted against rows inserted: expected 500 bytes, found 400",
    ]


def test_events_that_were_inserted_twice(admin):
    file = LedgerRows().read(3).store_events(200, 1)

    assert faults(admin, file) == [
        f"{FILE} in bytes 0..300: {STORED}: expected 3 rows, found 4",
        f"{FILE}: events posted against rows inserted: expected 3 rows, found 4",
        f"{FILE}: events posted against rows inserted: expected 300 bytes, found 400",
    ]


def test_a_dead_letter_that_was_not_inserted(admin):
    file = LedgerRows().read(1).post("DEAD_LETTER", 100, 120, detail="STRAY_TEXT").reached(120)

    assert faults(admin, file) == [
        f"{FILE}: dead letters of the framer posted against rows inserted: expected 1 row, found 0",
        f"{FILE}: dead letters of the framer posted against rows inserted: expected 20 bytes, found 0",
    ]


def test_messages_that_belong_to_no_file_are_shown(admin):
    letter = LedgerRows(instance="", log="kafka:tailrace.slowlog.lines/0", generation=0)
    found = read(admin, letter.store_dead_letter(5, 25, "DECODE", "MALFORMED_MESSAGE"))

    assert found.balances
    assert [(d.file.log, d.stage, d.detail, d.count) for d in found.details] == [
        ("kafka:tailrace.slowlog.lines/0", "DECODE", "MALFORMED_MESSAGE", 1)
    ]


def test_what_was_posted_after_the_newest_frontier_is_sound(admin):
    file = LedgerRows(at=minutes_ago(1)).read(3)
    file.at = NOW
    file.post("FRAMING", 300, 310, detail="BLANK")

    assert faults(admin, file) == []


def test_what_comes_after_the_newest_frontier_has_no_hole_either(admin):
    file = LedgerRows(at=minutes_ago(1)).read(3)
    file.at = NOW
    file.post("FRAMING", 310, 320, detail="BLANK")

    assert faults(admin, file) == [
        f"{FILE} in bytes 300..310: nothing was posted: expected 10 bytes, found 0"
    ]


def test_the_checkpoint_that_is_being_written_is_left_out(admin):
    LedgerRows().read(3).store(admin)
    newest = LedgerRows(checkpoint=2).post("ENTRY", 300, 400).post("EVENT", 300, 400, stage="PARSER")
    for row in newest.ledger:
        row["ingested_at"] = f"{datetime.now(UTC) + timedelta(hours=1):%Y-%m-%d %H:%M:%S}"
    found = read(admin, newest)

    assert found.balances
    assert found.accounts[0].entries == 3


def test_reads_again_before_it_reports_an_imbalance(admin):
    file = LedgerRows().post("ENTRY", 0, 100).post("EVENT", 0, 100, stage="PARSER").reached(100)
    file.store(admin)
    late = threading.Timer(1, LedgerRows().store_events(0, 1).store, [admin])
    late.start()

    assert ledger_balance.read(admin, patience_seconds=LIMIT_SECONDS).balances
    late.join()


def test_files_are_judged_apart(admin):
    LedgerRows().read(3).store(admin)
    LedgerRows(generation=2).read(3).post("ENTRY", 500, 600).store(admin)
    LedgerRows(instance="db2").read(2).store(admin)

    found = ledger_balance.read(admin, patience_seconds=0)
    assert {wrong.file for wrong in found.imbalances} == {LogFile("db1", "slowlog", "/log/slow.log", 2)}
    assert ledger_balance.read(admin, instance="db2").balances


def test_a_file_of_which_nothing_arrived(admin):
    found = read(admin, LedgerRows().census(700, generation=0))

    assert [(f.path, f.size) for f in found.unread] == [("", 700)]
    assert found.behind == 700
    assert found.balances and not found.is_complete, "`tailrace ledger --strict` fails"


def test_a_rotated_file_of_which_nothing_arrived_is_not_complete(admin):
    """Everything of the new file was read; only the census has seen the rotated one."""
    LedgerRows(log="/log/audit.log").read(3).store(admin)
    assert read(admin, LedgerRows(log="/log/other.log").read(1)).is_complete
    found = read(admin, LedgerRows(log="/log/audit.log").census(700, generation=0, inode=8))

    assert [(file.log, file.size) for file in found.unread] == [("/log/audit.log", 700)]
    assert found.balances and not found.is_complete
    assert not ledger_command.is_good(found, [], instance="", strict=True)


def test_a_file_that_was_found_after_its_first_census(admin):
    file = LedgerRows(at=NOW).census(700, at=minutes_ago(1), generation=0).read(7)

    assert read(admin, file).unread == []


def test_files_older_than_the_ledger_are_not_judged(admin):
    file = LedgerRows(at=NOW - timedelta(days=399)).read(3, begin=200)
    found = read(admin, file)

    assert found.accounts[0].aged
    assert found.balances


def test_waits_until_what_the_files_held_is_read(admin):
    LedgerRows(at=minutes_ago(5)).read(3).store(admin)
    reads = []

    def write_more(_: ledger_balance.LedgerBalance) -> None:
        reads.append(len(reads))
        more = LedgerRows(at=NOW + timedelta(hours=1))
        if len(reads) == 2:
            more.census(500).store(admin)
        if len(reads) == 3:
            more.read(2, begin=300).store(admin)

    found = ledger_balance.balance(admin, wait_seconds=LIMIT_SECONDS, on_read=write_more)
    assert len(reads) == 4
    assert found.balances and found.accounts[0].events == 5


def test_gives_up_waiting(admin):
    LedgerRows(at=minutes_ago(5)).read(3).store(admin)

    assert not ledger_balance.balance(admin, wait_seconds=0).covers(NOW.timestamp() + 60)


@pytest.mark.parametrize("user_name", ["reader_compliance", "reader_security"])
def test_a_reader_can_read_the_ledger(admin, user, user_name):
    LedgerRows().read(3).store_events(200, 1).store(admin)

    assert len(ledger_balance.read(user(user_name), minutes=5, patience_seconds=0).imbalances) == 3


def test_prints_and_serialises(admin, capsys):
    file = LedgerRows().post("FRAMING", 0, 100, detail="BANNER").read(3, begin=100)
    file.post("GAP", 400, 500, detail="lost").read(2, begin=500).reject(700, 720, "FRAMER", "STRAY_TEXT")
    file.reached(720, frontier=800, size=900)
    file.store(admin)
    found = ledger_balance.read(admin, minutes=5)
    ledger_formatting.show(found)

    out = capsys.readouterr().out
    assert "The ledger balances. Missing: 100 B in 1 gap. Unread: 100 B." in out
    assert all(word in out for word in ("STRAY_TEXT", "BANNER", "lost", "720 B", " slow.log "))
    assert json.loads(json.dumps(found.to_json()))["gaps"][0]["from_offset"] == 400


def test_prints_what_does_not_balance(admin, capsys):
    ledger_formatting.show(read(admin, LedgerRows().read(3).read(1, begin=400)))

    assert f"The ledger does not balance, in 1 place:\n  {FILE} in bytes 300..400" in capsys.readouterr().out
