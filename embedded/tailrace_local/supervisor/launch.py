"""Executes a component's program so that it cannot outlive the supervisor.

`launch.py SUPERVISOR_PID PROGRAM …`

It is a separate small program between fork and exec instead of a `preexec_fn`: Python code in the forked
child of a process with threads can deadlock. It uses the standard library only and is run with `-I -S`.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
COMMAND_NOT_FOUND = 127


def main(supervisor: int, command: list[str]) -> None:
    # The kernel sends this when the *thread* that forked us ends: the supervisor forks in its main thread.
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        sys.exit(f"cannot tie {command[0]} to its supervisor: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != supervisor:  # it died before the line above took effect
        sys.exit(f"{command[0]} not started: its supervisor has ended")
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"cannot execute {command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(COMMAND_NOT_FOUND)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
