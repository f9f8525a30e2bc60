"""Moves the times of real logs: only times of the log's clock change."""

from pathlib import Path

import pytest

from tailrace.demo import time_shift

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.log"))
END = 2_000_000_000.0


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_sample_fills_the_span_before_the_end(sample: Path) -> None:
    lines = sample.read_bytes().splitlines(keepends=True)
    out = list(
        time_shift.moved(lines, time_shift.linear_move(*time_shift.time_range(lines), end=END, span=3600))
    )
    first, last = time_shift.time_range(out)
    assert len(out) == len(lines)
    assert last == pytest.approx(END, abs=1)
    assert first == pytest.approx(END - 3600, abs=1)


def test_every_format_of_times_moves_and_the_rest_stays() -> None:
    lines = [
        b"# Time: 2026-11-21T02:49:06.897334Z\n",
        b"# Query_time: 0.1 Start: 2026-11-21T02:49:06.000000Z End: 2026-11-21T02:49:06.897334Z\n",
        b"SET timestamp=1795229346;\n",
        b"select 'SET timestamp=1795229346;' -- 2026-11-21T02:49:06.897334Z\n",
        b"# Time: 261121  2:49:06\r\n",
        b"20261121 02:49:06,vm,root,localhost,4,214,READ,shop,products,\n",
        b'{"audit_record":{"name":"Query","timestamp":"2026-11-21T02:49:06 UTC","status":0}}\n',
        b"2026-11-21  2:49:06 31 [Warning] Access denied for user 'app'@'10.0.0.9'\n",
        b"2026-11-21 02:49:06 0x7fa5dc1ea6c0 INNODB MONITOR OUTPUT\n",
        b"261121  2:49:06 [ERROR] /usr/sbin/mariadbd got signal 11 ;\n",
    ]
    assert list(time_shift.moved(lines, lambda seconds: seconds + 3600)) == [
        b"# Time: 2026-11-21T03:49:06.897334Z\n",
        b"# Query_time: 0.1 Start: 2026-11-21T03:49:06.000000Z End: 2026-11-21T03:49:06.897334Z\n",
        b"SET timestamp=1795232946;\n",
        b"select 'SET timestamp=1795229346;' -- 2026-11-21T02:49:06.897334Z\n",
        b"# Time: 261121 03:49:06\r\n",
        b"20261121 03:49:06,vm,root,localhost,4,214,READ,shop,products,\n",
        b'{"audit_record":{"name":"Query","timestamp":"2026-11-21T03:49:06 UTC","status":0}}\n',
        b"2026-11-21 03:49:06 31 [Warning] Access denied for user 'app'@'10.0.0.9'\n",
        b"2026-11-21 03:49:06 0x7fa5dc1ea6c0 INNODB MONITOR OUTPUT\n",
        b"261121 03:49:06 [ERROR] /usr/sbin/mariadbd got signal 11 ;\n",
    ]


def test_a_session_that_set_its_clock_stays_unchanged() -> None:
    lines = [b"SET timestamp=1795229346;\n", b"SET timestamp=1795229347;\n", b"SET timestamp=1234567890;\n"]
    move = time_shift.linear_move(*time_shift.time_range(lines), end=END, span=10)
    assert list(time_shift.moved(lines, move))[2] == b"SET timestamp=1234567890;\n"


def test_a_log_without_times_is_refused() -> None:
    with pytest.raises(ValueError, match="found no time"):
        time_shift.time_range([b"hello\n"])
