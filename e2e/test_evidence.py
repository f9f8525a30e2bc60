"""`tailrace evidence` and `tailrace review` against a running ClickHouse."""

import json
import os
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e import commands
from e2e.stack import Stack
from tailrace.cli.exit_codes import Exit

FIRST_PORT = int(os.environ.get("EVIDENCE_FIRST_PORT", "22500"))
PERIOD = ("--from", "2026-01-01", "--to", "now")
Call = Callable[..., subprocess.CompletedProcess]


@pytest.fixture(scope="module")
def stack(tmp_path_factory) -> Iterator[Stack]:
    """A stack with only ClickHouse, which suffices for evidence."""
    running = Stack(tmp_path_factory.mktemp("stack") / "home", FIRST_PORT, components=("clickhouse",))
    running.up()
    yield running
    running.down()


@pytest.fixture
def tailrace(stack: Stack) -> Call:
    def call(*words: str | Path, code: int = Exit.OK) -> subprocess.CompletedProcess:
        done = commands.run(stack.settings.environment(), *words)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return call


def test_from_a_review_to_a_bundle_that_an_auditor_verifies(stack: Stack, tailrace: Call, tmp_path: Path):
    bundle, key = tmp_path / "evidence.zip", tmp_path / "auditee.pem"
    signed = tailrace("review", "sign", *PERIOD, "--finding", "nothing unusual", "--actor", "ines").stdout
    assert "ines reviewed all servers, 2026-01-01 00:00 UTC to" in signed
    assert signed[:8] in tailrace("review", "list").stdout
    printed = tailrace("evidence", "key")
    key.write_text(printed.stdout)

    made = tailrace("evidence", "--framework", "pci", *PERIOD, "-o", bundle, "--actor", "ines").stdout
    assert "prove nothing" in made  # no log was seen
    assert printed.stderr.split()[-1] in made

    stack.down()
    verified = tailrace("evidence", "verify", bundle, "--public-key", key).stdout
    assert "unchanged since its export" in verified and "exported by ines" in verified
    with zipfile.ZipFile(bundle) as file:
        assert json.loads(file.read("about.json"))["rows"]["reviews"] == 1
    again = ("evidence", "--framework", "pci", *PERIOD, "-o", tmp_path / "second.zip")
    tailrace(*again, code=Exit.NOT_RUNNING)
    assert not (tmp_path / "second.zip").exists()

    stack.up()
    tailrace(*again)
    with zipfile.ZipFile(tmp_path / "second.zip") as file:
        assert json.loads(file.read("about.json"))["rows"]["exports"] == 1  # on record over a restart
