"""Two concurrent pushes of rules: the later one waits, and wins."""

import subprocess
import sys
import threading

import pytest

from e2e.limits import LIMIT_SECONDS
from tailrace.config.resources import PYTHON_PATH
from tailrace.rules import push as rule_push
from tailrace.rules.push import RulesError


def test_pushes_are_serialized(tmp_path):
    steps = []

    def first():
        with rule_push.push_lock(tmp_path, LIMIT_SECONDS):
            steps.append("first: candidate")
            second.start()
            second.join(1)  # it cannot end while the first one holds the lock
            steps.append("first: bundle")

    def later():
        with rule_push.push_lock(tmp_path, LIMIT_SECONDS):
            steps.append("second")

    second = threading.Thread(target=later)
    first()
    second.join(LIMIT_SECONDS)
    assert steps == ["first: candidate", "first: bundle", "second"]


def test_a_push_that_waits_too_long_fails(tmp_path):
    with (
        rule_push.push_lock(tmp_path, 0),
        pytest.raises(RulesError, match="nothing was pushed: another push"),
        rule_push.push_lock(tmp_path, 0.2),
    ):
        pytest.fail("two concurrent pushes")
    with rule_push.push_lock(tmp_path, 0):
        pass


def test_a_killed_push_does_not_block_others(tmp_path):
    code = (
        "import sys, pathlib\nfrom tailrace.rules import push as rule_push\n"
        "with rule_push.push_lock(pathlib.Path(sys.argv[1]), 0):\n"
        "    print(flush=True)\n    sys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=PYTHON_PATH,
    )
    holder.stdout.readline()
    with pytest.raises(RulesError), rule_push.push_lock(tmp_path, 0):
        pytest.fail("two concurrent pushes")
    holder.kill()
    holder.wait()
    with rule_push.push_lock(tmp_path, 0):
        pass
