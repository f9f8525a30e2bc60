"""Two requests at the same time do not start one timer twice (embedded/superset/tailrace_rate_limit.py)."""

import subprocess

import pytest

from tailrace.config.resources import REPOSITORY
from tailrace_local.components.superset import Superset

pytestmark = pytest.mark.browser

PROGRAM = """
import sys, threading
from types import SimpleNamespace
import tailrace_rate_limit
from limits.storage import memory, storage_from_string

changed, arrived, inside, most = threading.Condition(), 0, 0, 0

class Timer:
    '''Counts the threads between the construction of a timer and its start.'''

    def __init__(self, *_):
        global arrived, inside, most
        with changed:
            arrived += 1
            inside += 1
            most = max(most, inside)
            changed.notify_all()
            changed.wait_for(lambda: arrived > 1, timeout=int(sys.argv[2]))

    def start(self):
        global inside
        with changed:
            inside -= 1

    def is_alive(self):
        return False

storage = storage_from_string(sys.argv[1])
storage.timer.join()
memory.threading = SimpleNamespace(Timer=Timer, RLock=threading.RLock)
threads = [threading.Thread(target=storage.incr, args=('key', 60)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(most, storage.get('key'))
"""


@pytest.mark.parametrize(
    ("address", "threads", "seconds"),
    # The second thread comes never or, on a busy machine, late.
    [("tailrace-memory://", 1, 1), ("memory://", 2, 600)],
    ids=["ours", "limits: delete our storage when this fails"],
)
def test_only_one_thread_at_a_time_replaces_the_timer(stack, address, threads, seconds):
    python = Superset(stack.settings, stack.home).python()
    modules = REPOSITORY / "embedded" / "superset"
    done = subprocess.run(
        [python, "-c", PROGRAM, address, str(seconds)],
        env={"PYTHONPATH": str(modules)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == f"{threads} 2\n", done.stderr
