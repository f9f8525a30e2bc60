"""Property test of the signer: appends, rotations, truncations, new keys, and a crash at any system call."""

import base64
import contextlib
import itertools
import os
import random
import time
from pathlib import Path

import census
import pytest
from signing_logs import Chains, expected_hash, new_host, records

from tailrace_signing import keys, signer

CALLS = ("open", "write", "fsync", "replace", "close")


class Killed(BaseException):
    """The process ends here, as after kill -9."""


class Kill:
    """Ends the process before or after its n-th system call; a write may store a part."""

    def __init__(self, monkeypatch, chance: random.Random, calls: int) -> None:
        self._chance = chance
        self._left = calls
        for name in CALLS:
            monkeypatch.setattr(os, name, self._wrapped(name, getattr(os, name)))

    def _wrapped(self, name, call):
        def wrapper(*arguments, **options):
            self._left -= 1
            if self._left > 0:
                return call(*arguments, **options)
            if self._left < 0:  # what a dead process would still do, such as closing files
                return call(*arguments, **options) if name == "close" else self._die()
            if name == "write":
                call(arguments[0], arguments[1][: self._chance.randrange(len(arguments[1]) + 1)])
            elif self._chance.random() < 0.5 or name == "close":
                call(*arguments, **options)
            return self._die()

        return wrapper

    def _die(self):
        raise Killed


class World:
    """A slow log of a host that is written, rotated and signed."""

    def __init__(self, directory: Path, chance: random.Random) -> None:
        self.host = new_host(directory)
        self.path = directory / "slow.log"
        self.source = census.Source("shop", "db1", "slowlog", str(self.path))
        self.chance = chance
        self.written: dict[int, list[bytes]] = {}
        """The contents of each inode, one for each truncation."""
        self.rotations = itertools.count(1)
        self.lines = itertools.count()
        self.signer = self.host.start()

    def append(self) -> None:
        text = b"".join(
            b"%d %s%s" % (next(self.lines), b"x" * self.chance.choice((9, 90, 5000, 40_000)), end)
            for end in self.chance.choices((b"\n", b"\r\n", b"\r\r\n", b""), k=self.chance.randrange(1, 8))
        )
        with self.path.open("ab") as file:
            file.write(text)
            inode = os.fstat(file.fileno()).st_ino
        contents = self.written.setdefault(inode, [b""])
        contents[-1] += text

    def rotate(self) -> None:
        if self.path.exists():
            rotated = self.path.with_name(f"slow.log.{next(self.rotations)}")
            self.path.rename(rotated)
            if self.chance.random() < 0.7:
                long_ago = time.time() - 10 * signer.QUIET_SECONDS
                os.utime(rotated, (long_ago, long_ago))

    def truncate(self) -> None:
        if self.path.exists():
            os.truncate(self.path, 0)
            self.written.setdefault(self.path.stat().st_ino, [b""]).append(b"")

    def rotate_key(self) -> None:
        following = Path(f"{self.host.key_file}{keys.NEXT}")
        if not following.exists():
            key = keys.create(following)
            self.host.public_keys[key.id] = base64.b64decode(key.public_key)

    def sign(self) -> None:
        self.signer.see(census.take_census(self.source), census.live_paths(self.source))
        self.signer.sign()
        while self.signer.has_more:
            self.signer.sign()

    def sign_killed(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            Kill(patch, self.chance, self.chance.randrange(1, 40))
            with contextlib.suppress(Killed):
                self.sign()
        self.signer = self.host.start()

    def check(self) -> None:
        self.sign()
        assert self.host.problems == []
        checked = Chains.of(self.host.spool, self.host.public_keys)
        for (inode, number), found in checked.ranges(self.file_of).items():
            whole = self.written[inode][number]
            is_current = number == len(self.written[inode]) - 1
            assert not is_current or found[-1]["to"] >= whole.rfind(b"\n") + 1, (
                "complete lines are not signed"
            )

    def file_of(self, payload: dict) -> tuple[int, int]:
        """Returns inode and number of the content that the payload signs. Its lines are numbered and not
        empty, so only one content has the hash."""
        contents = self.written[payload["inode"]]
        [number] = [
            number
            for number, whole in enumerate(contents)
            if len(whole) >= payload["to"]
            and expected_hash(whole[payload["from"] : payload["to"]]) == payload["sha256"]
        ]
        return payload["inode"], number


STEPS = ("append",) * 8 + ("sign",) * 3 + ("sign_killed",) * 6 + ("rotate", "truncate", "rotate_key")


def test_no_crash_makes_a_fork_or_a_hole(tmp_path, monkeypatch):
    for seed in range(25):
        chance = random.Random(seed)
        directory = tmp_path / str(seed)
        directory.mkdir()
        monkeypatch.setattr(signer, "PASS_BYTES", chance.choice((20_000, 8 << 20)))
        world = World(directory, chance)
        for step in chance.choices(STEPS, k=30):
            getattr(world, step)()
        world.check()
        assert records(world.host.spool)
