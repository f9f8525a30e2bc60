"""Tests of the range rule, the hash and signatures against schemas/contracts/signed_range.json."""

import base64
import hashlib
import random

import pytest
from signing_logs import CONTRACT, content, divided, each_range, expected_hash

from tailrace_signing import keys, ranges
from tailrace_signing.ranges import RANGE_BYTES, Range, RangeHash, TruncatedError, divide, joined


@pytest.mark.parametrize("case", CONTRACT["hashes"], ids=lambda case: case["case"])
def test_hash(case):
    whole = content(case["content"])
    for size in (max(1, len(whole)), 65_536, 1 + len(whole) // 7):
        result = RangeHash()
        for start in range(0, len(whole), size):
            result.update(whole[start : start + size])
        assert result.hexdigest() == case["sha256"]


@pytest.mark.parametrize("case", CONTRACT["files"], ids=lambda case: case["case"])
def test_division(case):
    assert divided(content(case["content"]), case["rotated"]) == case["ranges"]


@pytest.mark.parametrize("case", CONTRACT["roots"], ids=lambda case: case["ranges"])
def test_ranges_of_one_record(case):
    found, start = [], 7
    for number in range(case["ranges"]):
        end = start + 16_384 + number
        found.append(Range(start, end, True, hashlib.sha256(str(number).encode()).hexdigest()))
        start = end
    open_one = Range(start, start + 5, False, "ab" * 32)
    (record,) = joined([*found, open_one])
    alone = {"from": start, "to": start + 5, "closed": False, "sha256": "ab" * 32}
    assert record.payload() == {**alone, "earlier_from": 7, "earlier_root": case["earlier_root"]}
    text = record.earlier_ranges()
    assert hashlib.sha256(text.encode()).hexdigest() == case["earlier_ranges_sha256"]
    assert each_range(record.payload(), text)[-1] == alone


def test_a_record_has_ranges_that_follow_each_other_and_not_too_many():
    ranges = [Range(start, start + 2, True, "") for start in (0, 2, 4, 6, 10, 12)]
    assert [[each.start for each in record.ranges] for record in joined(ranges, 3)] == [
        [0, 2, 4],
        [6],
        [10, 12],
    ]
    assert list(joined([])) == []


@pytest.mark.parametrize("case", CONTRACT["signatures"], ids=lambda case: case["case"])
def test_signature(case):
    public = base64.b64decode(CONTRACT["public_key"])
    assert keys.key_id(public) == CONTRACT["key"]
    assert keys.is_valid(public, case["payload"], case["signature"]) == case["valid"]
    assert hashlib.sha256(case["payload"].encode()).hexdigest() == case["payload_sha256"]


def test_random_bytes_in_blocks_of_any_size(monkeypatch):
    """The blocks that are read do not change the ranges, nor does dividing a file while it grows."""
    chance = random.Random(7)
    for _ in range(40):
        whole = b"".join(
            chance.choice((b"x" * chance.randrange(3000), b"\r", b"\n", b"\r\n", b"\xff\x00"))
            for _ in range(60)
        )
        monkeypatch.setattr(ranges, "BLOCK_BYTES", chance.choice((1, 7, 4096, 50_000, 1 << 20)) + RANGE_BYTES)
        ended = chance.random() < 0.5
        found = divided(whole, ended)
        for each in found:
            assert each["sha256"] == expected_hash(whole[each["from"] : each["to"]])
        part = divided(whole[: chance.randrange(len(whole))], False)
        closed = [each for each in part if each["closed"]]
        assert found[: len(closed)] == closed
        assert closed + divided(whole, ended, closed[-1]["to"] if closed else 0) == found


def test_a_file_that_became_shorter_is_not_divided_further():
    with pytest.raises(TruncatedError):
        list(divide(lambda offset, size: b"x\n" * 100 if offset == 0 else b"", 0, 60_000, ended=True))


def test_a_key_is_created_once_and_private(tmp_path):
    file = tmp_path / "host.pem"
    key = keys.create(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert keys.read(file).id == key.id
    assert keys.is_valid(base64.b64decode(key.public_key), "text", key.sign("text"))
    assert not keys.is_valid(base64.b64decode(key.public_key), "other", key.sign("text"))
    with pytest.raises(FileExistsError):
        keys.create(file)


@pytest.mark.parametrize(
    "text", ["", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
)
def test_a_file_without_a_key_is_refused_with_its_name(tmp_path, text):
    file = tmp_path / "host.pem"
    file.write_text(text)
    with pytest.raises(keys.KeyFileError, match=r"host\.pem contains no"):
        keys.read(file)
