"""Client hosts with distinct addresses, all on the loopback device of a separate network namespace.

No traffic leaves the machine, and its other servers are unreachable.
"""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

SERVER = "10.20.0.1"
_INSIDE = "ATTACK_DAY_NAMESPACE"


def enter() -> None:
    """Re-executes this program in a network namespace, unless it is in one. Needs root or user namespaces."""
    if os.environ.get(_INSIDE):
        return
    os.environ[_INSIDE] = "1"
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    os.execvp("unshare", ["unshare", "--net", *as_root, sys.executable, *sys.orig_argv[1:]])


def give_addresses(hosts: Iterable[str]) -> None:
    """Adds the server's and the hosts' addresses."""
    _ip("link", "set", "lo", "up")
    for host in (SERVER, *hosts):
        _ip("address", "add", f"{host}/32", "dev", "lo")


@contextmanager
def as_host(address: str) -> Iterator[None]:
    """Uses this source address for connections within the block. One block at a time."""
    _ip("route", "replace", "local", SERVER, "dev", "lo", "src", address, "table", "local")
    try:
        yield
    finally:
        _ip("route", "replace", "local", SERVER, "dev", "lo", "src", SERVER, "table", "local")


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
