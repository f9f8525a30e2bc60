"""Entries of the transparency log."""

import base64
import json
import random
import zlib

import pytest

from tailrace.transparency import leaves, sequences
from tailrace_verify import tiles
from tailrace_verify.findings import Report
from tailrace_verify.leaves import MAX_RECORDS, Leaves, add


def test_keys_are_split_into_entries_of_a_bounded_size():
    before = {f"{number:016x}": {"host": f"db-{number}"} for number in range(10)}
    now = {f"{number:016x}": {"host": f"db-{number}", "public_key": "A" * 44} for number in range(2000)}
    entries = list(leaves.keys(before, now))
    assert len(entries) > 1
    assert max(map(len, entries)) < tiles.MAX_ENTRY_BYTES
    merged = {name: key for each in entries for name, key in json.loads(each)["hosts"].items()}
    assert merged == now
    assert not list(leaves.keys(now, now))


def test_sequences_in_any_order_become_few_intervals():
    numbers = [number for number in range(1, 60) if number % 20]
    for seed in range(20):
        random.Random(seed).shuffle(numbers)
        intervals: sequences.Intervals = []
        assert [sequences.add(intervals, number) for number in numbers] == [True] * len(numbers)
        assert [sequences.add(intervals, number) for number in numbers] == [False] * len(numbers)
        assert intervals == [[1, 19], [21, 39], [41, 59]]


@pytest.mark.parametrize(("records", "is_read"), [(MAX_RECORDS, True), (MAX_RECORDS + 1, False)])
def test_a_leaf_has_a_bounded_number_of_records(records, is_read):
    text = json.dumps([["", "", ""]] * records).encode()
    packed = base64.b64encode(zlib.compress(text)).decode()
    held, report = Leaves(), Report()
    add(0, json.dumps({"type": "signed_ranges", "records": packed}).encode(), held, report)
    assert len(held.ranges) == records * is_read
    assert [each.message for each in report.findings] == (not is_read) * [
        "entry 0 is malformed: _MalformedError('more than 256 records')"
    ]
