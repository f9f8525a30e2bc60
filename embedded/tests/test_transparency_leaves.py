"""Entries of the transparency log."""

import json
import random

from tailrace.transparency import leaves, sequences
from tailrace_verify import tiles


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
