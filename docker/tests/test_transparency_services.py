"""The transparency log and its witness as Compose starts them, with the keys that make-secrets makes."""

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from docker.tests.conftest import DOCKER
from docker.tests.test_steps import START_SECONDS
from sql.tests.clickhouse_servers import _free_ports
from tailrace.cli.exit_codes import Exit
from tailrace.deployment import __main__ as deployment
from tailrace.evidence import signing
from tailrace.transparency import keys, witnesses
from tailrace.transparency.log import TransparencyLog
from tailrace.transparency.store import Batch
from tailrace_verify import notes

PORT = "18092"


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    docker = tmp_path_factory.mktemp("docker")
    for name in ("make-secrets", "compose.yaml", "compose.secure.yaml"):
        shutil.copy(DOCKER / name, docker)
    subprocess.run(["bash", docker / "make-secrets"], check=True)
    return docker / "secrets"


@pytest.fixture
def port() -> str:
    return str(_free_ports(1)[0])


@pytest.fixture
def here(secrets: Path, tmp_path: Path, port: str) -> dict[str, str]:
    """What is elsewhere here than in the containers."""
    return {
        "/run/secrets": str(secrets),
        "/run/transparency": str(tmp_path / "log"),
        "/var/lib/tailrace": str(tmp_path / "witness"),
        "http://witness:18092": f"http://127.0.0.1:{port}",
        "--bind=0.0.0.0": "--bind=127.0.0.1",
        PORT: port,
    }


def words(service: dict, here: dict[str, str]) -> list[str]:
    found = service["command"]
    for there, instead in here.items():
        found = [word.replace(there, instead) for word in found]
    return found


def prepare(services: dict, here: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("TAILRACE_HOME", here["/run/transparency"])
    return deployment.main(words(services["transparency-setup"], here)[1:])


@pytest.fixture
def witness(services, here, port, monkeypatch) -> Iterator[subprocess.Popen]:
    """The running witness, after the step that writes names and public keys."""
    assert prepare(services, here, monkeypatch) == Exit.OK
    command = [sys.executable, "-m", *words(services["witness"], here)]
    process = subprocess.Popen(command, env={**os.environ, "TAILRACE_HOME": here["/var/lib/tailrace"]})
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(f"http://127.0.0.1:{port}/health"):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        assert process.wait(START_SECONDS) == 0


def _answers(address: str) -> bool:
    with suppress(OSError):
        urllib.request.urlopen(address, timeout=1).close()
        return True
    return False


def test_the_witness_cosigns_the_log_of_the_other_service(witness, here, secrets):
    directory = Path(here["/run/transparency"]) / "transparency"
    origin = (directory / keys.ORIGIN).read_text().strip()
    log = TransparencyLog(directory, origin, signing.read_private(secrets / keys.LOG_KEY))
    log.append(Batch([b'{"type": "keys", "hosts": {}}']))
    (listed,) = witnesses.load(directory / keys.WITNESSES)
    line = listed.cosign(0, log.consistency(0), log.signed())
    assert line.startswith(f"{notes.PREFIX}compose/witness ")
    assert len(list((Path(here["/var/lib/tailrace"]) / "witness/state").iterdir())) == 1
    assert not (directory.parent / "secrets").exists(), "its keys are given"


def test_the_step_changes_nothing_and_refuses_another_key(
    services, here, secrets, monkeypatch, tmp_path, capsys
):
    assert prepare(services, here, monkeypatch) == Exit.OK
    directory = Path(here["/run/transparency"]) / "transparency"
    before = {file.name: file.read_text() for file in directory.iterdir()}
    assert capsys.readouterr().out.strip() == before[keys.LOG_VKEY].strip()
    assert prepare(services, here, monkeypatch) == Exit.OK
    assert {file.name: file.read_text() for file in directory.iterdir()} == before

    other = {**here, "/run/secrets": str(shutil.copytree(secrets, tmp_path / "other"))}
    Path(other["/run/secrets"], keys.LOG_KEY).chmod(0o600)
    Path(other["/run/secrets"], keys.LOG_KEY).write_text(keys.new_pem())
    capsys.readouterr()
    assert prepare(services, other, monkeypatch) == Exit.FAILED
    assert "a log keeps its name and its key" in capsys.readouterr().err
    assert {file.name: file.read_text() for file in directory.iterdir()} == before


def test_verifier_keys_are_printed_for_the_values_of_the_chart(tmp_path, capsys):
    """The key is created once; a witness's is of another kind."""
    printed = []
    for more in ([], [], ["--witness"]):
        command = ["verifier-key", "--name", "tailrace/shop", "--key", str(tmp_path / "key.pem"), *more]
        assert deployment.main(command) == Exit.OK
        printed.append(capsys.readouterr().out.strip())
    assert printed[0] == printed[1] != printed[2]
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600
    kinds = [notes.parse_vkey(each).kind for each in printed]
    assert kinds == [notes.ED25519, notes.ED25519, notes.COSIGNATURE]


def test_a_name_that_is_none_is_one_sentence(tmp_path, capsys):
    command = ["verifier-key", "--name", "two words", "--key", str(tmp_path / "key.pem")]
    assert deployment.main(command) == Exit.FAILED
    assert "Traceback" not in capsys.readouterr().err
