"""Two pushes of rules at the same moment: the later one waits, and wins."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tailrace import rules
from tailrace.rules import RulesError


def test_pushes_come_one_after_the_other(tmp_path):
    steps = []

    def first():
        with rules.turn(tmp_path, 30):
            steps.append("first: candidate")
            second.start()
            second.join(1)  # it cannot end as long as the first one has its turn
            steps.append("first: bundle")

    def later():
        with rules.turn(tmp_path, 30):
            steps.append("second")

    second = threading.Thread(target=later)
    first()
    second.join(30)
    assert steps == ["first: candidate", "first: bundle", "second"]


def test_who_waits_too_long_is_told(tmp_path):
    with (
        rules.turn(tmp_path, 0),
        pytest.raises(RulesError, match="nothing was pushed: another push"),
        rules.turn(tmp_path, 0.2),
    ):
        pytest.fail("two pushes at once")
    with rules.turn(tmp_path, 0):
        pass


def test_a_push_that_is_killed_holds_nobody_up(tmp_path):
    code = (
        "import sys, pathlib\nfrom tailrace import rules\n"
        "with rules.turn(pathlib.Path(sys.argv[1]), 0):\n    print(flush=True)\n    sys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(rules.__file__).parents[1],
    )
    holder.stdout.readline()
    with pytest.raises(RulesError), rules.turn(tmp_path, 0):
        pytest.fail("two pushes at once")
    holder.kill()
    holder.wait()
    with rules.turn(tmp_path, 0):
        pass
