"""Tests how far files are signed and verified, on a real ClickHouse."""

from datetime import UTC, datetime

from tailrace.ledger import signed_ranges
from tailrace.ledger.signed_ranges import SignedFile

SIGNED_AT = datetime.now(UTC).replace(microsecond=0)


def write(admin, sequence: int, start: int, end: int, status: str, second: int = 0, **fields) -> None:
    row = {
        **dict.fromkeys(("cluster", "host", "previous", "payload", "signature", "reason"), ""),
        "instance": "db1",
        "source": "slowlog",
        "log": "/l/slow.log",
        "generation": 1,
        "from_offset": start,
        "to_offset": end,
        "closed": end - start >= 16384,
        "key": "0123456789abcdef",
        "sequence": sequence,
        "payload_sha256": str(sequence),
        "status": status,
        "signed_at": f"{SIGNED_AT:%Y-%m-%d %H:%M:%S}",
        "verified_at": f"{SIGNED_AT:%Y-%m-%d %H:%M}:{second:02d}",
        **fields,
    }
    admin.insert("tailrace.signed_ranges", [row], async_insert=0)


def test_without_signed_ranges_nothing_is_known(admin, capsys):
    assert signed_ranges.read(admin) == []
    signed_ranges.show([], 0)
    assert "unknown" in capsys.readouterr().out


def test_a_file_is_verified_up_to_its_first_range_that_is_not(admin, capsys):
    write(admin, 1, 0, 100, "verified")
    write(admin, 2, 0, 16400, "verified")
    write(admin, 3, 16400, 33000, "incomplete")
    write(admin, 4, 33000, 50000, "mismatch")
    write(admin, 5, 50000, 50100, "superseded")
    write(admin, 1, 0, 70, "verified", instance="db2")

    file, other = signed_ranges.read(admin)
    assert file == SignedFile(
        *("db1", "slowlog", "/l/slow.log", 1, 16400, 50100, 1, 0, 1, 0, SIGNED_AT.timestamp())
    )
    assert (other.instance, other.verified_to) == ("db2", 70)
    assert signed_ranges.read(admin, "db2") == [other]
    signed_ranges.show([file, other], SIGNED_AT.timestamp())
    assert "1 signed ranges failed" in capsys.readouterr().out


def test_the_latest_result_of_a_range_counts(admin):
    write(admin, 1, 0, 16400, "incomplete", second=1)
    write(admin, 1, 0, 16400, "verified", second=2)

    (file,) = signed_ranges.read(admin)
    assert (file.verified_to, file.incomplete) == (16400, 0)
