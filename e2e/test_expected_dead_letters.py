"""Real logs have exactly the dead letters that samples/expected-dead-letters.yaml lists."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, wait_until
from tailrace.config.resources import REPOSITORY
from tailrace.demo import feed as demo_feed
from tailrace.ledger import balance as ledger_balance
from tailrace_local.supervisor import control

EXPECTED = yaml.safe_load((demo_feed.SAMPLES / "expected-dead-letters.yaml").read_text())
CORPORA = Path(os.environ.get("TAILRACE_CORPORA") or REPOSITORY.parent / "shared" / "corpora")
LOGS = (
    "ours/slow/real/*.log",
    "ours/slow/synthetic/*.log",
    "ours/audit/*/*",
    "third-party/slow/**/*.log",
    "third-party/slow/**/*.txt",
)

DeadLetters = dict[str, dict[str, int]]
"""Their number by file and code."""


def expected(where: str) -> DeadLetters:
    listed: DeadLetters = {}
    for group in EXPECTED[where]:
        for file, number in group["files"].items():
            listed.setdefault(file, {})[group["code"]] = number
    return listed


def test_samples_through_the_pipeline(stack: Stack):
    demo_feed.watch(stack.settings, stack.home)
    control.take_list(stack.home)
    stack.await_healthy()
    demo_feed.feed(stack.home)
    found = {
        sample.file: codes
        for sample in demo_feed.FILES
        if (codes := _dead_letters(_ledger(stack, sample), sample))
    }
    assert found == expected("samples")


def _ledger(stack: Stack, sample: demo_feed.Sample) -> dict:
    """Returns the ledger of the sample's server when it contains everything that was fed."""
    found: dict = {}

    def hold_all() -> bool:
        found.update(ledger_balance.read(stack.clickhouse(), sample.instance).to_json())
        read = {file["log"]: file["frontier"] for file in found["files"]}
        path = sample.watched(stack.home).path
        is_read = read.get(str(path)) == path.stat().st_size and not any(
            file["pending"] for file in found["files"]
        )
        # The parser's postings may come after the framer's.
        return is_read and found["balances"]

    wait_until(hold_all, f"the ledger of {sample.instance}")
    assert not found["gaps"]
    return found


def _dead_letters(found: dict, sample: demo_feed.Sample) -> dict[str, int]:
    letters = [detail for detail in found["details"] if detail["kind"] == "DEAD_LETTER"]
    return {letter["detail"]: letter["count"] for letter in letters if letter["source"] == sample.source}


def test_corpora_by_the_command_line(tmp_path: Path):
    if not CORPORA.is_dir():
        pytest.skip(f"no corpora at {CORPORA}")
    files = sorted({path.relative_to(CORPORA) for pattern in LOGS for path in CORPORA.glob(pattern)})
    done = subprocess.run(
        [REPOSITORY / "bin" / "tailrace", "parse", f"--dead-letters={tmp_path / 'letters'}", *files],
        env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
        cwd=CORPORA,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
        timeout=2 * LIMIT_SECONDS,
    )
    accounts = done.stderr.decode(errors="replace").splitlines()
    assert len(accounts) == len(files)
    assert {file: codes for account in accounts for file, codes in _account(account)} == expected("corpora")


def _account(line: str) -> list[tuple[str, dict[str, int]]]:
    """Returns the file and the dead letters of one line of `tailrace parse`; nothing if there are none."""
    letters = {code: int(number) for number, code in re.findall(r"(\d+) dead letters? (\w+)", line)}
    return [(line.split(": ")[0], letters)] if letters else []
