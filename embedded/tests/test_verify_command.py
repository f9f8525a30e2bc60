"""The command: exit codes, output for people and programs, and proofs of single rows."""

import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import verify_histories as histories

from tailrace.cli import remote
from tailrace.clickhouse import replica_progress
from tailrace.clickhouse.replica_progress import ReplicaProgress
from tailrace.config.resources import REPOSITORY
from tailrace.verification import live
from tailrace_local.cli import main
from tailrace_verify import check, merkle, minutes, notes, rows, single
from tailrace_verify.files import of_mapping
from tailrace_verify.findings import Status
from tailrace_verify.minutes import prove
from tailrace_verify.tiles import Tiles, reader

MOST_PROOF_BYTES = 5 * 1024


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    history = histories.made(11, 4)
    write(tmp_path / "log", history.bundle())
    write(
        tmp_path / "own", {name: data for name, data in history.bundle().items() if name.startswith("keys/")}
    )
    return tmp_path / "log"


def write(directory: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(data)


def keys(bundle: Path) -> list[str]:
    own = bundle.parent / "own/keys"
    words = ["--log-key", own / "log.vkey", "--witness-key", own / "witnesses/w1.vkey"]
    return list(map(str, [*words, "--host-keys", own / "hosts.json"]))


def run(*words: object) -> int:
    return main(["verify", *map(str, words)])


def test_proven(bundle, capsys):
    assert run(bundle, *keys(bundle)) == Status.PROVEN
    shown = capsys.readouterr().out
    assert shown.startswith("proven: ")
    assert "tailrace/0f3a" in shown


def test_a_replica_that_lags_is_not_said_to_be_tampered_with(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TAILRACE_HOME", str(tmp_path))
    monkeypatch.setattr(replica_progress, "PASS_SECONDS", 0)
    monkeypatch.setattr(ReplicaProgress, "_delay", lambda _, server: 60 * server.url.endswith("2"))
    write(tmp_path, {f"{live.DIRECTORY}/checkpoint": b""})
    words = ["verify", "--live", "--server", "http://ch1", "--server", "http://ch2"]
    (tmp_path / "clickhouse-auditor").touch()
    assert remote.run(words, "http://ch1", tmp_path) == Status.UNDETERMINED
    assert "http://ch2: a replica lags by 60 s" in capsys.readouterr().err


def test_keys_of_the_bundle_determine_nothing(bundle, capsys):
    assert run(bundle) == Status.UNDETERMINED
    assert "the bundle's own" in capsys.readouterr().out


def test_a_changed_row_as_json(bundle, capsys):
    file = next((bundle / "rows").rglob("*.jsonl"))
    file.write_bytes(file.read_bytes().replace(b"SELECT", b"DELETE", 1))
    assert run(bundle, *keys(bundle), "--output", "json") == Status.TAMPERED
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["exit_code"]) == ("tampered", 1)
    named = [each["file"] for each in document["findings"] if each["status"] != "noted"]
    assert set(named) == {file.relative_to(bundle).as_posix()}


def test_minutes_without_coverage(bundle, capsys):
    assert run(bundle, *keys(bundle), "--to", "2026-11-26T10:10") == Status.INCOMPLETE
    assert "without coverage  2026-11-26T10:04:00Z to 2026-11-26T10:10:00Z" in capsys.readouterr().out


def test_a_checkpoint_that_the_auditor_kept(bundle, capsys):
    other = notes.Checkpoint(histories.ORIGIN, 2, bytes(32)).text()
    made = histories.made(11, 4)
    lines = (
        notes.sign(other, histories.ORIGIN, made.log),
        notes.cosign(other, histories.WITNESS, made.witness, 1),
    )
    kept = bundle.parent / "kept"
    kept.write_bytes(notes.assemble(other, lines))
    assert run(bundle, *keys(bundle), "--checkpoint", kept) == Status.TAMPERED
    assert "its first 2 leaves differ from" in capsys.readouterr().out


UNREADABLE = [
    ("missing",),
    (".", "--log-key", "missing"),
    (".", "--from", "x"),
    (".", "--from", "2026-11-02", "--to", "2026-11-02"),
    ("checkpoint",),
    (),
]


@pytest.mark.parametrize("words", UNREADABLE)
def test_what_cannot_be_read_is_not_tampered(bundle, words, capsys, monkeypatch):
    monkeypatch.chdir(bundle)
    assert run(*words) == Status.UNDETERMINED
    assert capsys.readouterr().err.startswith("tailrace: ")


def test_a_zip_file_and_the_module_without_tailrace(bundle):
    path = bundle.parent / "log.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in bundle.rglob("*"):
            archive.write(file, f"transparency/{file.relative_to(bundle)}")
    package = bundle.parent / "alone"
    package.mkdir()
    (package / "tailrace_verify").symlink_to(REPOSITORY / "embedded/tailrace_verify")
    command = [sys.executable, "-m", "tailrace_verify", str(path), *keys(bundle)]
    done = subprocess.run(command, cwd=package, env={"PYTHONPATH": ""}, capture_output=True, text=True)
    assert (done.returncode, done.stdout[:7], done.stderr) == (0, "proven:", "")


def test_the_wheel_contains_the_module_and_its_command():
    project = tomllib.loads((REPOSITORY / "embedded/tailrace_verify/pyproject.toml").read_text())
    assert project["project"]["dependencies"] == ["cryptography"]
    assert project["project"]["scripts"] == {"tailrace-verify": "tailrace_verify.__main__:entry"}


def test_the_proof_of_one_of_a_million_rows_in_a_year(tmp_path, capsys):
    """Proofs of 20 hashes each: a minute of a million rows, a log of a million leaves. Of the tree, only the
    hashes beside the path exist."""
    history = histories.made(5, 3)
    row = rows.canonical({"event_id": 1, "sql": "x" * 300})
    path = [bytes([at]) * 32 for at in range(20)]
    root = merkle.root_from_inclusion(0, 1 << 20, merkle.leaf_hash(row), path)
    columns = [f"column_{at:02}" for at in range(40)]
    leaf = histories.entry(
        type="rows",
        table="query_events",
        minute=histories.stamp(0),
        part=1,
        rows=1 << 20,
        root=root.hex(),
        columns=columns,
    )
    log_root = merkle.root_from_inclusion(0, 1 << 20, merkle.leaf_hash(leaf), path)
    text = notes.Checkpoint(histories.ORIGIN, 1 << 20, log_root).text()
    signed = (
        notes.sign(text, histories.ORIGIN, history.log),
        notes.cosign(text, histories.WITNESS, history.witness, 9),
    )
    document = {
        "format": single.FORMAT,
        "row": row.decode(),
        "row_index": 0,
        "row_proof": single._encoded(path),
        "leaf": leaf.decode(),
        "leaf_index": 0,
        "leaf_proof": single._encoded(path),
        "checkpoint": notes.assemble(text, signed).decode(),
    }
    proof = json.dumps(document, separators=(",", ":")).encode()
    assert len(proof) <= MOST_PROOF_BYTES
    assert single.verify(proof, history.trust()).verdict is Status.PROVEN
    assert single.verify(proof.replace(b"xxx", b"yyy", 1), history.trust()).verdict is Status.TAMPERED


def test_a_proof_is_made_from_a_log(bundle, capsys):
    file = next((bundle / "rows").rglob("*.jsonl"))
    lines = file.read_bytes().splitlines()
    history = histories.made(11, 4)
    index = next(
        at for at, each in enumerate(history.entries) if rows.minute_root(lines).hex().encode() in each
    )
    tree = Tiles(reader(bundle), len(history.entries))
    proof = single.make(lines, lines[-1], tree, index, (bundle / "checkpoint").read_bytes())
    path = bundle.parent / "row.json"
    path.write_bytes(proof)
    assert run(path, *keys(bundle)) == Status.PROVEN
    path.write_bytes(proof.replace(b"SELECT", b"DELETE"))
    assert run(path, *keys(bundle)) == Status.TAMPERED


def test_single_rows_of_a_bundle():
    history = histories.made(11, 4)
    bundle = history.bundle()
    name = next(name for name in bundle if name.startswith("rows/"))
    lines = bundle.pop(name).splitlines()
    bundle["scope.json"] = bundle["scope.json"].replace(b'"query_events", "audit_events"', b"")
    proof = prove(lines, lines[0])
    bundle[name.replace("rows/", "proofs/")] = proof + b"\n"
    assert check.verify(of_mapping(bundle), history.trust()).verdict is Status.PROVEN
    bundle[name.replace("rows/", "proofs/")] = proof.replace(b"SELECT", b"DELETE") + b"\n"
    report = check.verify(of_mapping(bundle), history.trust())
    assert report.verdict is Status.TAMPERED
    assert [each.place["row"] for each in report.findings if each.status is not Status.PROVEN] == [1]
    assert minutes.NAME.fullmatch(name)
