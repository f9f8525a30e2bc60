"""GTID sets against sets of numbers."""

import random

import pytest
from seeds import with_seeds

from tailrace.snapshots.gtid_sets import LAST, GtidError, GtidSet, MariaDbState, joined, subtracted

A = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
B = "4e11fa47-71ca-11e1-9e33-c80aa9429562"
ROUNDS = 300


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        (f"{A}:1-5", f"{A}:1-5"),
        (f"{A.upper()}:5,\n{A}:1-3:4", f"{A}:1-5"),
        (f"{B}:7, {A}:1", f"{A}:1,{B}:7"),
        (f"{A}:1-5:blue:1-3:7:green:2", f"{A}:1-5,{A}:blue:1-3:7,{A}:green:2"),
        (f"{A}:blue:1-3,{A}:BLUE:4", f"{A}:blue:1-4"),
        (f"{A.replace('-', '')}:3-1:9", f"{A}:9"),
        (f"{A}:5-3", ""),
        (f"{A}:1-{LAST}", f"{A}:1-{LAST}"),
    ],
)
def test_parses_the_notation_of_mysql(text, canonical):
    assert str(GtidSet.parse(text)) == canonical
    assert GtidSet.parse(canonical) == GtidSet.parse(text)


@pytest.mark.parametrize("text", ["x:1", f"{A}:0", f"{A}:1-2-3", f"{A}:-1", f"{A}:9blue:1", f"{A}:{2**63}"])
def test_refuses_invalid_sets(text):
    with pytest.raises(GtidError):
        GtidSet.parse(text)


def numbers(intervals) -> set[int]:
    return {number for first, last in intervals for number in range(first, last + 1)}


def some_intervals(chance: random.Random) -> list[tuple[int, int]]:
    begins = [chance.randint(1, 60) for _ in range(chance.randint(0, 8))]
    return [(begin, begin + chance.randint(0, 9)) for begin in begins]


@with_seeds(ROUNDS)
def test_arithmetic_is_that_of_sets(seed):
    chance = random.Random(seed)
    one, two = some_intervals(chance), some_intervals(chance)
    left = subtracted(joined(one), joined(two))

    assert numbers(left) == numbers(one) - numbers(two)
    assert left == joined(list(left))
    assert numbers(joined(one)) == numbers(one)
    assert all(before[1] + 1 < after[0] for before, after in zip(joined(one), joined(one)[1:], strict=False))


def some_set(chance: random.Random) -> GtidSet:
    parts = [
        f"{uuid}{tag}:{first}-{last}"
        for uuid in (A, B)
        for tag in ("", ":blue", ":green")
        for first, last in some_intervals(chance)
    ]
    chance.shuffle(parts)
    return GtidSet.parse(",".join(parts))


@with_seeds(ROUNDS)
def test_laws_of_sets(seed):
    chance = random.Random(seed)
    one, two = some_set(chance), some_set(chance)

    assert GtidSet.parse(str(one)) == one
    assert one.minus(one) == GtidSet({})
    assert one.union(two) == two.union(one)
    assert one.minus(two).union(two) == one.union(two)
    assert not one.minus(one.union(two))
    assert one.union(two).count() == one.count() + two.minus(one).count()


def everything(text: str) -> set[tuple[str, str, int]]:
    """A set's transactions one by one, computed with another algorithm than the program's."""
    found = set()
    for part in filter(None, text.replace("\n", "").split(",")):
        uuid, *pieces = part.strip().lower().split(":")
        tag = ""
        for piece in pieces:
            if piece[0].isdigit():
                first, _, last = piece.partition("-")
                found |= {(uuid, tag, number) for number in range(int(first), int(last or first) + 1)}
            else:
                tag = piece
    return found


def some_text(chance: random.Random) -> str:
    """Generates notations of sets: separate parts of one UUID, touching intervals, tags between them."""
    parts = []
    for _ in range(chance.randint(0, 6)):
        pieces = [chance.choice((A, B))]
        for first, last in some_intervals(chance):
            pieces += [chance.choice(("blue", "green"))] if chance.random() < 0.3 else []
            pieces.append(f"{first}-{last}" if chance.random() < 0.8 else str(first))
        parts.append(":".join(pieces))
    return chance.choice((",", ",\n", ", ")).join(parts)


@with_seeds(ROUNDS)
def test_sets_are_sets_of_transactions(seed):
    chance = random.Random(seed)
    one, two = some_text(chance), some_text(chance)
    these, others = GtidSet.parse(one), GtidSet.parse(two)

    assert everything(str(these)) == everything(one)
    assert everything(str(these.minus(others))) == everything(one) - everything(two)
    assert everything(str(these.union(others))) == everything(one) | everything(two)
    assert everything(str(these.without({A}))) == {each for each in everything(one) if each[0] != A}
    assert these.count() == len(everything(one))


def some_log(chance: random.Random) -> dict[tuple[int, int], int]:
    return {
        (chance.randint(0, 2), chance.randint(1, 3)): chance.randint(1, 9)
        for _ in range(chance.randint(0, 6))
    }


@with_seeds(ROUNDS)
def test_states_are_sets_of_streams_up_to_a_number(seed):
    chance = random.Random(seed)
    one, two = some_log(chance), some_log(chance)
    these, others = MariaDbState(one), MariaDbState(two)

    def reached(log: dict) -> set[tuple[int, int, int]]:
        return {(*key, number) for key, last in log.items() for number in range(1, last + 1)}

    assert MariaDbState.parse(str(these)) == these
    assert reached(these.union(others).last) == reached(one) | reached(two)
    assert {key[:2] for key in reached(one) - reached(two)} == these.minus(others).last.keys()
    assert not these.minus(these.union(others))


def test_transactions_that_a_mariadb_replica_wrote_itself():
    source, replica = MariaDbState.parse("0-1-13"), MariaDbState.parse("0-1-12,0-2-14")

    assert str(replica.minus(source)) == "0-2-14"
    assert not MariaDbState.parse("0-1-12").minus(source)
    assert not MariaDbState.parse("").minus(source)
    with pytest.raises(GtidError, match="expected domain-server-sequence"):
        MariaDbState.parse("0-1")
