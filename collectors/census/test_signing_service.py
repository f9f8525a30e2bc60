"""The census with a key: its options, failures, and what it repeats after a restart of Fluent Bit."""

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import census
import pytest
from signing_logs import Chains, new_host, records

from tailrace_signing import keys
from tailrace_signing.repeats import Repeats
from tailrace_signing.signer import state_file

PROGRAM = Path(census.__file__)
NOTHING = "http://127.0.0.1:1"


def environment(directory: Path, **more: str) -> dict[str, str]:
    return {
        "TAILRACE_INSTANCE": "db1",
        "TAILRACE_SLOWLOG_PATH": str(directory / "slow.log"),
        "TAILRACE_CENSUS_SPOOL": str(directory / "c" / "spool"),
        **more,
    }


def test_without_a_key_a_copy_of_the_file_alone_works(tmp_path):
    shutil.copy(PROGRAM, tmp_path / "census.py")
    (tmp_path / "slow.log").write_text("a line\n")
    words = [sys.executable, "-I", tmp_path / "census.py", "--once"]
    subprocess.run(words, env=environment(tmp_path), check=True)
    done = subprocess.run(
        [*words, "--key", tmp_path / "key"], env=environment(tmp_path), capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "census: --key: No module named 'tailrace_signing'" in done.stderr


def test_a_created_key_signs(tmp_path, monkeypatch, capsys):
    (tmp_path / "slow.log").write_text("a line\n")
    key_file = tmp_path / "host.pem"
    assert census.main(["--create-key", str(key_file)]) == 0
    public = base64.b64decode(capsys.readouterr().out)
    assert census.main(["--create-key", str(key_file)]) == 2  # no key is ever overwritten
    more = {"TAILRACE_HOST": "db-host-1", "TAILRACE_HOST_KEY": str(key_file)}
    for name, value in environment(tmp_path, **more).items():
        monkeypatch.setenv(name, value)
    assert census.main(["--once"]) == 0
    (payload,) = Chains.of(tmp_path / "c" / "spool", {keys.key_id(public): public}).payloads
    assert (payload["host"], payload["instance"], payload["to"]) == ("db-host-1", "db1", 7)
    assert census.main(["--once", "--key", str(tmp_path / "missing")]) == 2


@pytest.fixture
def host(tmp_path):
    made = new_host(tmp_path)
    made.path = tmp_path / "slow.log"
    made.source = census.Source("shop", "db1", "slowlog", str(made.path))
    return made


def sign(host, signer) -> None:
    signer.see(census.take_census(host.source), census.live_paths(host.source))
    signer.sign()


def test_a_key_whose_state_is_lost_does_not_sign_again(host):
    host.path.write_text("a line\n")
    sign(host, host.start())
    state_file(host.spool).unlink()
    for _ in range(2):  # reported once
        signer = host.start()
        sign(host, signer)
        sign(host, signer)
    assert len(records(host.spool)) == 1
    assert len(host.problems) == 2
    assert "create and register another key" in host.problems[0]


def test_another_key_in_the_file_does_not_continue_the_chain(host):
    host.path.write_text("a line\n")
    sign(host, host.start())
    host.key_file.unlink()
    keys.create(host.key_file)
    host.path.write_text("another line\n")
    sign(host, host.start())
    assert len(records(host.spool)) == 1
    assert "but the last signature is of the key" in host.problems[0]


def test_a_rotated_key_that_cannot_be_renamed_signs_nevertheless(host, monkeypatch):
    host.path.write_text("a line\n")
    sign(host, host.start())
    following = keys.create(Path(f"{host.key_file}{keys.NEXT}"))
    host.public_keys[following.id] = base64.b64decode(following.public_key)
    replace = os.replace

    def read_only(source, target):
        if str(target) == str(host.key_file):
            raise OSError("Read-only file system")
        replace(source, target)

    monkeypatch.setattr(os, "replace", read_only)
    for text in ("a line\nand\n", "a line\nand\nanother\n"):
        host.path.write_text(text)
        sign(host, host.start())
    assert Chains.of(host.spool, host.public_keys).keys[2:] == [following.id, following.id]
    assert host.problems == []


def test_a_full_disk_is_reported_and_signing_continues(host, monkeypatch):
    host.path.write_text("a line\n")
    signer = host.start()
    write = os.write

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    sign(host, signer)
    assert "No space left" in host.problems[0]
    monkeypatch.setattr(os, "write", write)
    sign(host, signer)
    (payload,) = Chains.of(host.spool, host.public_keys).payloads
    assert payload["to"] == 7


def test_the_spool_is_repeated_once_for_each_start_of_fluent_bit(host, monkeypatch):
    host.path.write_text("a line\n")
    sign(host, host.start())
    expected = [path.read_text() for path in host.spool.glob("signed-*")]
    starts = iter((None, 1000.0, 1002.0, 5000.0, 5001.0, 5000.0))
    for repeated in (0, 0, 0, 1, 1, 1):
        repeats = Repeats(host.spool, NOTHING, host.problems.append)  # as after a restart of the census
        monkeypatch.setattr(repeats, "_started", lambda: next(starts))
        repeats.check()
        found = [path.read_text() for path in host.spool.glob("signed-*.repeat.jsonl")]
        assert found == expected * repeated
    assert host.problems == []


def test_a_fluent_bit_that_does_not_answer_is_no_restart(host):
    repeats = Repeats(host.spool, NOTHING, host.problems.append)
    repeats.check()
    assert (list(host.spool.iterdir()), host.problems) == ([], [])


def test_a_state_of_a_newer_version_is_reported(host):
    state_file(host.spool).write_text(json.dumps({"version": 2}))
    sign(host, host.start())
    assert "has version 2, known is 1" in host.problems[0]
