#!/usr/bin/env python3
"""Checks and watches the collector on a database server whose services systemd runs (../../docs/HOSTS.md).

    tailrace-collector check        reports what prevents the collector from working, and how to correct it
    tailrace-collector configure    writes the main file of Fluent Bit, with the logs that have a path
    tailrace-collector watch        ends Fluent Bit if an output has failed permanently; systemd restarts it

The environment configures it (../collector.env). Like the census (census.py), which must be beside it, it
needs only the standard library of Python 3.9.
"""

import argparse
import glob
import grp
import os
import pwd
import re
import shlex
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import census

USER = "tailrace"
SETTINGS = Path("/etc/tailrace/collector.env")
FLUENT_BIT_UNIT = "tailrace-fluent-bit.service"
OLDEST_FLUENT_BIT = (4, 2)
FURTHER_INOTIFY_INSTANCES = 3
"""Of Fluent Bit beside those of the logs: for two kinds of records of the census, and for capture."""
ABSENT = "switch the log on, correct its path, or leave the path empty"
CONNECT_SECONDS = 5
WATCH_SECONDS = 10
FAILED_ANSWERS = 3
"""Consecutive answers 500 after which Fluent Bit is ended."""

Environment = Mapping[str, str]


@dataclass(frozen=True)
class Finding:
    """A result of the check. `correction` is empty if there is nothing to correct."""

    what: str
    correction: str = ""
    is_error: bool = False


def read_settings(file: Path) -> "dict[str, str]":
    """Reads a file of NAME=VALUE lines as systemd's EnvironmentFile= does. Raises OSError.

    Values continued on a second line are not supported.
    """
    settings = {}
    for line in file.read_text().splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith(("#", ";")):
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            settings[name.strip()] = value[1:-1] if quoted else value.strip()
    return settings


def included_files(environment: Environment) -> "list[str]":
    """Returns the names of the files in TAILRACE_COLLECTOR_DIR that these settings need, in order.

    Raises census.ConfigurationError if no log has a path.
    """
    with_path = {source.source for source in census.sources_from_environment(environment)}
    logs = [f"{kind}.conf" for kind in census.KINDS if kind in with_path]
    signed = ["signed.conf"] if environment.get("TAILRACE_HOST_KEY") else []
    captured = ["capture.conf"] if environment.get("TAILRACE_SERVER_DSN") else []
    return ["service.conf", *logs, "census.conf", "kafka.conf", *signed, *captured]


def configure(file: Path, environment: Environment) -> int:
    """Writes the main file of Fluent Bit. Exit codes: 0 written, 2 wrong settings."""
    try:
        directory = environment["TAILRACE_COLLECTOR_DIR"]
        names = included_files(environment)
    except (KeyError, census.ConfigurationError) as error:
        report(f"{SETTINGS}: {error}")
        return 2
    file.write_text("".join(f"@INCLUDE {directory}/{name}\n" for name in names))
    return 0


def has_failed(environment: Environment) -> bool:
    """Returns whether Fluent Bit reports an output that has failed permanently. False if it does not answer,
    as while it starts."""
    host, port = environment["TAILRACE_HEALTH_HOST"], environment["TAILRACE_HEALTH_PORT"]
    try:
        with urllib.request.urlopen(f"http://{host}:{port}/api/v1/health", timeout=CONNECT_SECONDS):
            return False
    except urllib.error.HTTPError as error:
        return error.code == HTTPStatus.INTERNAL_SERVER_ERROR
    except OSError:
        return False


def main_process(unit: str) -> "int | None":
    """Returns the main process of a unit of systemd, or None if it does not run."""
    command = ["systemctl", "show", "--property=MainPID", "--value", unit]
    shown = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return int(shown.stdout) or None


def watch(
    environment: Environment,
    process_of: "Callable[[str], int | None]" = main_process,
    seconds: float = WATCH_SECONDS,
    stopped: "threading.Event | None" = None,
) -> int:
    """Ends Fluent Bit whenever an output has failed permanently, until SIGTERM. Its service restarts it."""
    stopped = stopped or _stopped_by_signal()
    failed = 0
    while not stopped.wait(seconds):
        failed = failed + 1 if has_failed(environment) else 0
        if failed < FAILED_ANSWERS:
            continue
        failed = 0
        process = process_of(FLUENT_BIT_UNIT)
        if process:
            report(f"an output of Fluent Bit has failed permanently: ending process {process}")
            with suppress(ProcessLookupError):  # it has ended by itself
                os.kill(process, signal.SIGTERM)
    return 0


def _stopped_by_signal() -> threading.Event:
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    return stopped


def check(environment: Environment) -> int:
    """Prints all findings. Exit codes: 0 no error, 1 an error."""
    errors = 0
    for finding in findings(environment):
        errors += finding.is_error
        print(f"{'ERROR' if finding.is_error else 'ok   '} {finding.what}")
        if finding.correction:
            print(f"      {finding.correction}")
    return 1 if errors else 0


def findings(environment: Environment) -> "Iterator[Finding]":
    """Yields what was checked, as seen by this user: settings, logs, Fluent Bit, limits, brokers."""
    try:
        sources = census.sources_from_environment(environment)
    except census.ConfigurationError as error:
        yield Finding(str(error), f"edit {SETTINGS}", is_error=True)
        return
    paths = sorted({path for source in sources for path in census.live_paths(source)})
    for path in paths:
        yield log_finding(path)
    yield fluent_bit_finding(environment.get("TAILRACE_FLUENT_BIT", "/opt/fluent-bit/bin/fluent-bit"))
    yield inotify_finding(len(paths))
    for broker in environment.get("TAILRACE_KAFKA_BROKERS", "").split(","):
        yield broker_finding(broker.strip(), environment)


def log_finding(path: str) -> Finding:
    """Checks that a live file can be read, by all directories above it."""
    if os.path.realpath(path) != path:
        return Finding(
            f"{path} leads over a symbolic link", f"list it as {os.path.realpath(path)}", is_error=True
        )
    for directory in reversed(Path(path).parents):
        if not directory.exists():
            return Finding(f"{path}: there is no directory {directory}", ABSENT, is_error=True)
        if not os.access(directory, os.R_OK | os.X_OK if directory == Path(path).parent else os.X_OK):
            return unreadable(directory, path)
    if not os.path.exists(path):
        rotated = [each for each in glob.glob(glob.escape(path) + "*") if each != path]
        return Finding(f"{path} does not exist ({len(rotated)} rotated files)", ABSENT, is_error=True)
    if not os.access(path, os.R_OK):
        return unreadable(Path(path), path)
    return Finding(f"{path} is readable, {os.stat(path).st_size:,} bytes")


def unreadable(blocking: Path, path: str) -> Finding:
    """Returns how to make a file readable that `blocking`, itself or a directory above it, does not admit."""
    status = blocking.stat()
    owner, group = _name(pwd.getpwuid, status.st_uid), _name(grp.getgrgid, status.st_gid)
    mode = stat.S_IMODE(status.st_mode)
    is_file = blocking == Path(path)
    if mode & (0o040 if is_file else 0o010) and group != "root":
        correction = f"usermod --append --groups {group} {USER}, then restart the services"
    else:
        correction = f"setfacl --modify user:{USER}:{'r' if is_file else 'rx'} {shlex.quote(str(blocking))}"
    what = f"{path} is not readable for {USER}: {blocking} is of {owner}:{group}, mode {mode:o}"
    return Finding(what, correction, is_error=True)


def _name(lookup: Callable, number: int) -> str:
    try:
        return lookup(number)[0]
    except KeyError:
        return str(number)


def fluent_bit_finding(program: str) -> Finding:
    """Checks that Fluent Bit can be run and is new enough."""
    correction = f"install Fluent Bit 5, or set TAILRACE_FLUENT_BIT in {SETTINGS}"
    try:
        shown = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        return Finding(f"Fluent Bit cannot be run: {error}", correction, is_error=True)
    version = re.search(r"v(\d+)\.(\d+)\.\d+", shown)
    if not version:
        return Finding(f"{program} states no version", correction, is_error=True)
    found = (int(version[1]), int(version[2]))
    if found < OLDEST_FLUENT_BIT:
        return Finding(f"{program} is {version[0]}: too old", correction, is_error=True)
    return Finding(f"{program} is {version[0]}")


def inotify_finding(logs: int) -> Finding:
    """Checks the limit of inotify instances of a user, of which Fluent Bit needs one for each log."""
    name = "fs.inotify.max_user_instances"
    limit = int(Path("/proc/sys", *name.split(".")).read_text())
    needed = logs + FURTHER_INOTIFY_INSTANCES
    if needed <= limit:
        return Finding(f"{needed} of {limit} inotify instances are needed")
    return Finding(
        f"{needed} inotify instances are needed, and the limit is {limit}",
        f"sysctl {name}={2 * needed}, and a file in /etc/sysctl.d",
        is_error=True,
    )


def broker_finding(broker: str, environment: Environment) -> Finding:
    """Checks that a broker accepts connections, with TLS if the settings say so. It does not log in."""
    host, _, port = broker.rpartition(":")
    protocol = environment.get("TAILRACE_KAFKA_SECURITY_PROTOCOL", "")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS) as connection:
            if not protocol.endswith("ssl"):
                return Finding(f"{broker} accepts connections, without encryption")
            context = _tls_context(environment)
            with context.wrap_socket(connection, server_hostname=host.strip("[]")) as encrypted:
                return Finding(f"{broker} accepts connections, with {encrypted.version()}")
    except (OSError, ValueError) as error:
        return Finding(
            f"broker {broker!r}: {error}", f"TAILRACE_KAFKA_… in {SETTINGS}, firewall", is_error=True
        )


def _tls_context(environment: Environment) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=environment.get("TAILRACE_KAFKA_CA_FILE") or None)
    certificate = environment.get("TAILRACE_KAFKA_CERTIFICATE_FILE")
    if certificate:
        context.load_cert_chain(
            certificate,
            environment.get("TAILRACE_KAFKA_KEY_FILE") or None,
            environment.get("TAILRACE_KAFKA_KEY_PASSWORD") or None,
        )
    return context


def become(name: str) -> None:
    """Continues as another user with all of its groups, if this is root. Raises KeyError."""
    if os.geteuid() == 0:
        user = pwd.getpwnam(name)
        os.initgroups(name, user.pw_gid)
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)


def report(message: str) -> None:
    print(f"tailrace-collector: {message}", file=sys.stderr, flush=True)


def main(arguments: "list[str] | None" = None) -> int:
    """Exit codes: 0 done, 1 the check found errors, 2 wrong usage or settings."""
    parser = argparse.ArgumentParser(
        prog="tailrace-collector", description=__doc__.split("\n", maxsplit=1)[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="report what prevents the collector from working")
    checking.add_argument("--settings", type=Path, default=SETTINGS, help="default: %(default)s")
    configuring = commands.add_parser("configure", help="write the main file of Fluent Bit")
    configuring.add_argument("file", type=Path)
    commands.add_parser("watch", help="end Fluent Bit when an output has failed permanently")
    options = parser.parse_args(arguments)
    if options.command == "configure":
        return configure(options.file, os.environ)
    if options.command == "watch":
        return watch(os.environ)
    try:
        settings = read_settings(options.settings)
        become(USER)
    except (OSError, KeyError) as error:
        report(str(error))
        return 2
    return check(settings)


if __name__ == "__main__":
    sys.exit(main())
