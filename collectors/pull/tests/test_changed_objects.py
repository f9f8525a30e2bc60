"""Objects that grow, or are replaced or copied, before they were read and long after."""

import gzip

import pytest
from test_objects import PREFIX, SCHEMES, Puller, connect, credentials, fake, hours_later, put, record

from e2e.pulling.fake_objects import FakeObjects
from tailrace_pull import objects_memory
from tailrace_pull.objects_memory import DAY_MILLIS, KnownObject
from tailrace_pull.remote import RemoteError

__all__ = ["connect", "credentials", "fake"]  # fixtures


def test_an_object_that_was_replaced_is_read_again(fake, connect):
    puller = connect(fake)
    put(fake, "a", 1)
    puller.visit(fake.now.timestamp())
    hours_later(fake, 1)
    put(fake, "a", 2, 3)
    puller.visit(fake.now.timestamp())
    assert puller.numbers() == [1, 2, 3]
    assert puller.notes == [f"{PREFIX}/a was replaced: it is read from its start"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("is_smaller", [False, True])
def test_an_object_that_was_replaced_before_it_was_read_is_a_gap(connect, scheme, is_smaller):
    """Objects of Azure grow. Whether a larger one contains what an unread one contained, no one can know."""
    fake = FakeObjects(scheme)
    puller = connect(fake)
    put(fake, "a", 1)
    put(fake, "b", 2, 3)
    puller.visit(fake.now.timestamp(), max_bytes=1)
    size = len(fake.objects[f"{PREFIX}/b"].content)
    hours_later(fake, 1)
    put(fake, "b", *((4,) if is_smaller else (4, 5, 6)))
    puller.visit(fake.now.timestamp())
    assert puller.numbers() == ([1, 4] if is_smaller else [1, 4, 5, 6])
    reason = f"{PREFIX}/b was replaced before it was read: a gap of {size} bytes"
    assert puller.notes == ([reason] if is_smaller or scheme != "az" else [])
    assert puller.visit(fake.now.timestamp()).notes == []


def test_bytes_that_were_listed_and_replaced_before_they_were_read_are_a_gap(connect):
    fake = FakeObjects("az")
    puller = connect(fake)
    put(fake, "0", 1)
    put(fake, "a", 2)
    puller.visit(fake.now.timestamp())
    fake.append(f"{PREFIX}/a", record("az", 3, fake.now))
    hours_later(fake, 1)
    fake.append(f"{PREFIX}/0", record("az", 4, fake.now))
    fake.denied = {"read"}
    with pytest.raises(RemoteError):
        puller.visit(fake.now.timestamp())
    puller.state.memory = noted(puller, fake)
    fake.denied = set()
    left = len(fake.objects[f"{PREFIX}/a"].content) - len(record("az", 2, fake.now))
    hours_later(fake, 1)
    put(fake, "a", 5, 6, 7)
    puller.visit(fake.now.timestamp())
    assert puller.numbers() == [1, 2, 4, 5, 6, 7]
    assert puller.notes[0] == (
        f"{PREFIX}/a was replaced before it was read to its end: a gap of {left} bytes"
    )


def noted(puller: Puller, fake: FakeObjects) -> str:
    """Returns the memory of a visit that listed the objects, and had no time to read them."""
    memory = puller.memory()
    assert not list(memory.note(puller.log.store.objects(), can_grow=True))
    return memory.to_text()


@pytest.mark.parametrize("days", [6, 8, 400])
@pytest.mark.parametrize("is_packed", [False, True])
def test_an_object_that_grows_after_any_time_is_continued(connect, days, is_packed):
    """Records of Azure have no ids. A copy of an object has another time, and another tag."""
    fake = FakeObjects("az")
    puller = connect(fake)
    write = (lambda data: gzip.compress(data, mtime=0)) if is_packed else bytes
    first = record("az", 1, fake.now)
    fake.put(f"{PREFIX}/a", write(first))
    puller.visit(fake.now.timestamp())
    for _ in range(3):
        puller.visit(hours_later(fake, 24 * days / 3))
    assert bool(puller.memory().objects) == (days < 7)
    fake.put(f"{PREFIX}/a", write(first))  # a copy
    puller.visit(fake.now.timestamp())
    puller.visit(hours_later(fake, 24 * days))
    fake.put(f"{PREFIX}/a", write(first + record("az", 2, fake.now)))
    puller.visit(fake.now.timestamp())
    assert (puller.numbers(), puller.notes) == ([1, 2], [])


def test_an_object_that_was_replaced_after_a_week_is_read_from_its_start(fake, connect):
    puller = connect(fake)
    put(fake, "a", 1)
    puller.visit(fake.now.timestamp())
    puller.visit(hours_later(fake, 24 * 8))
    put(fake, "a", 2, 3)
    puller.visit(fake.now.timestamp())
    assert puller.numbers() == [1, 2, 3]
    assert puller.notes == [f"{PREFIX}/a was replaced: it is read from its start"]


def test_marks_are_remembered_of_listed_objects_only_and_of_the_newest(fake, connect, monkeypatch):
    monkeypatch.setattr(objects_memory, "MAX_MARKS", 2)
    puller = connect(fake)
    for number in range(1, 5):
        put(fake, f"{number}", number)
        puller.visit(hours_later(fake, 1))
    puller.visit(hours_later(fake, 24 * 8))
    kept = [objects_memory.digest_of(f"{PREFIX}/{number}") for number in (3, 4)]
    assert list(puller.memory().marks) == kept
    del fake.objects[f"{PREFIX}/3"]
    puller.visit(hours_later(fake, 1))
    assert list(puller.memory().marks) == kept[1:]


def test_the_marks_of_many_old_objects_take_little_of_the_state():
    """Each visit writes the state to Kafka, also one that reads nothing."""
    days = range(1, 3001)
    memory = objects_memory.Memory()
    for day in days:
        known = KnownObject(
            9, day * DAY_MILLIS, f"tag {day}", 9, f"tag {day}", 9, f"9:{day:016x}", is_read=True
        )
        memory.objects[f"{PREFIX}/{day}"] = known
    memory.forget((days[-1] + 8) * DAY_MILLIS)
    assert not memory.objects
    assert list(memory.marks)[-1] == objects_memory.digest_of(f"{PREFIX}/{days[-1]}")
    assert len(memory.to_text()) < 60_000
