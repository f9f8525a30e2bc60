"""The transparency log and its witness: kills at each write, rollbacks, two histories, another reader."""

import base64
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from transparency_parts import (
    LOG_KEY,
    LOG_PUBLIC,
    NAME,
    NOW,
    ORIGIN,
    WITNESS_KEY,
    Disk,
    Killed,
    Source,
    direct,
    entry,
    make_log,
    make_witness,
)

from tailrace.transparency import files, witnesses
from tailrace.transparency.log import LogError, TransparencyLog
from tailrace.transparency.service import Service
from tailrace.transparency.store import Batch, Store
from tailrace.transparency.witnesses import OtherSizeError, WitnessError, WitnessRefusedError
from tailrace.witness.server import WitnessServer
from tailrace.witness.witness import Witness
from tailrace_verify import merkle, notes, tiles
from tailrace_verify.notes import Checkpoint
from tailrace_verify.tiles import Tiles

ORACLE = Path(__file__).parent / "transparency_oracle"


def make_service(directory: Path, disk: Disk, end: int, most: int) -> Service:
    log = make_log(directory, disk)
    source = Source(log.store, end, most)
    return Service(log, source, [direct(make_witness(directory, disk))], lambda _: None, lambda: NOW)


def run(service: Service, published: Callable[[], None], end: int, directory: Path) -> None:
    while True:
        service.step()
        assert not service.problem
        published()
        if checkpoint_of(directory).size == end:
            return


def checkpoint_of(directory: Path) -> Checkpoint:
    """Returns the published checkpoint with verified signatures and tiles."""
    note = notes.parse((directory / "log" / "checkpoint").read_bytes())
    checkpoint = notes.parse_checkpoint(note.text)
    assert notes.verify(note, LOG_PUBLIC)
    assert notes.cosigned_at(note, make_witness(directory).key) == NOW
    assert read(directory, checkpoint.size).root() == checkpoint.root
    return checkpoint


def read(directory: Path, size: int) -> Tiles:
    return Tiles(tiles.reader(directory / "log"), size)


def entries_of(directory: Path, size: int) -> list[bytes]:
    found = read(directory, size)
    return [each for index in range(-(-size // tiles.WIDTH)) for each in found.entries(index)]


class Observer:
    """Compares every published checkpoint with the one before it."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._last = directory, Checkpoint(ORIGIN, 0, merkle.EMPTY)

    def __call__(self) -> None:
        if (self._directory / "log" / "checkpoint").exists():
            now = checkpoint_of(self._directory)
            proof = read(self._directory, now.size).consistency(self._last.size)
            assert merkle.verify_consistency(self._last.size, self._last.root, now.size, now.root, proof), (
                f"{self._last} is no prefix of {now}"
            )
            self._last = now


@pytest.mark.parametrize(("end", "most"), [(9, 4), (600, 300)])
def test_a_kill_at_any_write_loses_no_leaf_and_repeats_none(tmp_path: Path, end: int, most: int):
    whole = Disk()
    run(
        make_service(tmp_path / "whole", whole, end, most),
        Observer(tmp_path / "whole"),
        end,
        tmp_path / "whole",
    )
    expected = [entry(number) for number in range(end)]
    step = 1 if end < 100 else 7
    for at in range(1, whole.count + 1, step):
        for is_after in (False, True):
            directory = tmp_path / f"{at}{is_after}"
            observe = Observer(directory)
            with pytest.raises(Killed):
                run(make_service(directory, Disk(at, is_after), end, most), observe, end, directory)
            observe()
            # The source finds another number of entries than before the kill.
            run(make_service(directory, Disk(), end, most + 1), observe, end, directory)
            assert entries_of(directory, end) == expected, f"killed at write {at}"
            store = Store(directory / "log" / "state.sqlite", is_reader=True)
            assert sum(store.anchored("t", 0).values()) == end
            store.close()
            shutil.rmtree(directory)


def append(log: TransparencyLog, *words: str) -> None:
    log.append(Batch([word.encode() for word in words]))


def test_the_log_refuses_to_extend_changed_tiles(tmp_path: Path):
    log = make_log(tmp_path, Disk())
    append(log, "a", "b", "c")
    tile = tmp_path / "log" / "tile" / "0" / "000.p" / "3"
    tile.write_bytes(tile.read_bytes()[:32] + bytes(64))
    with pytest.raises(LogError, match="have the root"):
        append(log, "d")


def test_partial_tiles_are_removed_once_the_full_tile_is_published(tmp_path: Path):
    witness = direct(make_witness(tmp_path))
    log = make_log(tmp_path, Disk())
    service = Service(log, Source(log.store, 0, 1), [witness], lambda _: None, lambda: NOW)
    append(log, *map(str, range(200)))
    service.publish()
    append(log, *map(str, range(200, 300)))
    assert (tmp_path / "log" / "tile" / "0" / "000.p").exists(), "readers of the published checkpoint need it"
    service.publish()
    names = sorted(
        str(path.relative_to(tmp_path / "log")) for path in (tmp_path / "log").rglob("*") if path.is_file()
    )
    assert names == [
        "checkpoint",
        "state.sqlite",
        "tile/0/000",
        "tile/0/001.p/44",
        "tile/1/000.p/1",
        "tile/entries/000",
        "tile/entries/001.p/44",
    ]


class TwoLogs:
    """A log and a copy of it that continues differently, with one witness."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.witness = make_witness(directory)
        self.log = make_log(directory, Disk())
        self.service = self._service(self.log)
        append(self.log, "a", "b")
        self.service.publish()
        shutil.copytree(directory / "log", directory / "copy" / "log")
        append(self.log, "c")
        self.service.publish()

    def restored(self) -> Service:
        """Returns the service of the copy."""
        return self._service(make_log(self.directory / "copy", Disk()))

    def _service(self, log: TransparencyLog) -> Service:
        return Service(log, Source(log.store, 0, 1), [direct(self.witness)], lambda _: None, lambda: NOW)


@pytest.fixture
def two(tmp_path: Path) -> TwoLogs:
    return TwoLogs(tmp_path)


def test_a_log_that_was_rolled_back_appends_nothing(two: TwoLogs):
    restored = two.restored()
    restored._collector = Source(restored._log.store, 9, 9)
    assert not restored.step()
    assert restored.problem.endswith("is older than its last checkpoint")
    assert restored._log.size == 2, "nothing is appended to the old log"
    assert notes.parse_checkpoint(notes.parse(restored._log.published()).text).size == 2
    incidents = restored._log.store.values("incident ")
    assert [each["at"] for each in incidents.values()] == [NOW]


@pytest.mark.parametrize("further", ["d", "d e f"])
def test_the_witness_cosigns_no_second_history(two: TwoLogs, further: str):
    service = two.restored()
    append(service._log, *further.split())
    with pytest.raises(WitnessRefusedError):
        service.publish()
    assert two.witness.last(ORIGIN) == two.log.head()
    assert service._log.store.values("incident ")


def test_a_witness_that_was_rolled_back_is_reported_and_continues(two: TwoLogs):
    (state,) = (two.directory / "witness").iterdir()
    old = state.read_bytes()
    append(two.log, "d")
    two.service.publish()
    state.write_bytes(old)
    append(two.log, "e")
    two.service.publish()
    two.service.publish()
    (incident,) = two.log.store.values("incident ").values()
    assert "went back from 4 to 3 leaves" in incident["text"]
    assert two.witness.last(ORIGIN).size == 5


def test_a_witness_with_a_forged_state_cosigns_nothing(two: TwoLogs):
    (state,) = (two.directory / "witness").iterdir()
    forged = Checkpoint(ORIGIN, 1, merkle.leaf_hash(b"x")).text()
    state.write_bytes(notes.assemble(forged, [notes.sign(forged, ORIGIN, LOG_KEY)]))
    with pytest.raises(notes.NoteError, match="no checkpoint that this witness has cosigned"):
        two.service.publish()


def request(old: int, proof: list[bytes], checkpoint: Checkpoint, key: Ed25519PrivateKey = LOG_KEY) -> bytes:
    lines = [f"old {old}", *(base64.b64encode(each).decode() for each in proof), "", ""]
    text = checkpoint.text()
    return "\n".join(lines).encode() + notes.assemble(text, [notes.sign(text, checkpoint.origin, key)])


HASHES = [merkle.leaf_hash(bytes([number])) for number in range(9)]


def head(size: int, origin: str = ORIGIN) -> Checkpoint:
    return Checkpoint(origin, size, merkle.root(HASHES[:size]))


def test_the_witness_answers_as_the_specification_says(tmp_path: Path):
    witness = make_witness(tmp_path)
    proof = merkle.consistency(HASHES[:7], 3)
    answers = [
        (request(0, [], head(0)), 200),
        (request(0, [], head(3)), 200),
        (request(3, [], head(3)), 200),
        (request(0, [], head(7)), 409),
        (request(4, [], head(3)), 400),
        (request(3, proof[:-1], head(7)), 422),
        (request(3, [], Checkpoint(ORIGIN, 3, HASHES[0])), 422),
        (request(0, [], head(3, "other.example/log")), 404),
        (request(3, proof, head(7), WITNESS_KEY), 403),
        (request(3, proof, head(7)).replace(b"old 3", b"old 03"), 400),
        (request(3, proof * 40, head(7)), 400),
        (b"old 3\n", 400),
        (b"old 3\n\n\xff", 400),
        (request(3, proof, head(7)), 200),
    ]
    assert [witness.add_checkpoint(body).status for body, _ in answers] == [status for _, status in answers]
    conflict = witness.add_checkpoint(request(0, [], head(9)))
    assert (conflict.text, conflict.kind) == ("7\n", "text/x.tlog.size")
    fresh = Witness(NAME, WITNESS_KEY, [LOG_PUBLIC], tmp_path / "empty", files.write)
    wrong = Checkpoint(ORIGIN, 0, HASHES[0])
    assert fresh.add_checkpoint(request(0, [], wrong)).status == 422


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[WitnessServer]:
    with WitnessServer(make_witness(tmp_path), "127.0.0.1", 0, lambda _: None) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_cosignatures_over_http(serving: WitnessServer, tmp_path: Path):
    listed = tmp_path / "witnesses"
    address = f"http://127.0.0.1:{serving.server_address[1]}"
    listed.write_text(f"# ours\n\n{address}/ {serving.witness.key.vkey()}\n")
    (witness,) = witnesses.load(listed)
    log = make_log(tmp_path, Disk())
    append(log, "a", "b")
    Service(log, Source(log.store, 0, 1), [witness], lambda _: None).publish()
    note = notes.parse(log.published())
    assert notes.cosigned_at(note, witness.key) == NOW
    with pytest.raises(OtherSizeError) as other:
        witness.cosign(0, [], log.signed())
    assert other.value.size == 2
    stranger = witnesses.Witness(address, notes.key_of(NAME, LOG_KEY, notes.COSIGNATURE))
    with pytest.raises(WitnessError, match="not of its key"):
        stranger.cosign(2, [], log.signed())


def test_a_witness_that_does_not_answer_delays_the_checkpoint_and_no_leaf(tmp_path: Path):
    log = make_log(tmp_path, Disk())
    witness = make_witness(tmp_path)
    service = Service(log, Source(log.store, 40, 20), [direct(witness)], lambda _: None, lambda: NOW)
    service.step()
    size = log.size
    service._witnesses = [witnesses.Witness("http://127.0.0.1:1", witness.key)]
    while log.size == size:
        service.step()
    assert "does not answer" in service.problem
    assert checkpoint_of(tmp_path).size == size
    service._witnesses = [direct(witness)]
    service.step()
    assert not service.problem
    assert checkpoint_of(tmp_path).size == log.size > size


def test_an_independent_implementation_reads_the_log(tmp_path: Path):
    """golang.org/x/mod/sumdb verifies notes, computes roots and proofs of the tiles that we write."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    log = make_log(tmp_path, Disk())
    heads = []
    witness = make_witness(tmp_path)
    service = Service(log, Source(log.store, 0, 1), [direct(witness)], lambda _: None, lambda: NOW)
    for count in (1, 254, 2, 300, 44):
        append(log, *(f"entry {log.size + number}" for number in range(count)))
        service.publish()
        heads.append(f"{log.size} {base64.b64encode(log.head().root).decode()}")
    done = subprocess.run(
        ["go", "run", ".", LOG_PUBLIC.vkey(), str(tmp_path / "log"), *heads],
        cwd=ORACLE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"verified 601 entries of {ORIGIN} and {len(heads)} heads"]
