"""Starts the Java command line, which runs the code of the jobs on a file, without any server.

This module imports little: importing the stack takes longer than reading a small log.
"""

import os
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from tailrace.config import command_line_jar
from tailrace.config.settings import Settings, SettingsError

COMMANDS = {
    "digest": "report the heaviest statements of log files",
    "parse": "convert log files to events, one per line",
    "fingerprint": "print the fingerprint and the query id of statements",
    "plan": "show and compare execution plans, with advice",
    "detect": "evaluate detection rules on log files",
    "rules": "check, backtest, tune and push detection rules, and report their health",
}
NOT_JAVA = tuple(["rules", name] for name in ("push", "health", "canary", "promote", "propose-exceptions"))
"""Words that mark a command as not one of the JVM's."""

INCOMPLETE = (["rules", "backtest"],)
"""Words that mark a command of the JVM whose options `tailrace.cli.backtest` completes."""

SERVER = "--server"

MUCH_INPUT = 400_000_000
"""The input size in bytes from which the optimising compiler, which costs a second, pays off."""
LITTLE_INPUT = 20_000_000
"""The assumed size of standard input in bytes, if no file is given."""
STANDARD_INPUT = "-"
HELP = {"-h", "--help"}
ASKING = {*HELP, "-V", "--version"}
COMPRESSED = (".gz", ".zst")
COMPRESSION = 12
HEAP = ("-XX:+UseSerialGC", "-Xms384m", "-Xmn24m")
"""The young generation nearly fits into the processor's cache. The old generation holds a digest of very many
classes without a full collection; its unused part takes no memory."""
QUICK_COMPILER = ("-XX:TieredStopAtLevel=1",)
GOOD_COMPILER = (
    "-XX:-TieredCompilation",
    "-XX:FreqInlineSize=80",
    "-XX:InlineSmallCode=600",
    "-XX:MaxInlineLevel=6",
)
"""Limits the compiler: with its defaults it takes four times as long without a gain."""


def runs(words: Sequence[str]) -> bool:
    """Returns whether a command line is for the JVM as it is; the help of its commands is not."""
    if not words or words[0] not in COMMANDS or HELP.intersection(words):
        return False
    return list(words[:2]) not in (*NOT_JAVA, *INCOMPLETE) and not reads_server(words)


def reads_server(words: Sequence[str]) -> bool:
    """Returns whether it is `digest --server`, whose input `tailrace.cli.server_digest` downloads."""
    return words[0] == "digest" and any(word.partition("=")[0] == SERVER for word in words[1:])


def start_if_installed(words: Sequence[str]) -> None:
    """Replaces this process by the JVM. Returns if no jar is installed or a setting is invalid."""
    try:
        jar = command_line_jar.installed(Settings.from_environment())
    except SettingsError:
        return
    if jar is not None:
        start(jar, words)


def start(jar: Path, words: Sequence[str]) -> NoReturn:
    """Replaces this process by the JVM."""
    os.execvp("java", _command(jar, words))


def call(jar: Path, words: Sequence[str]) -> int:
    """Runs the JVM; returns its exit code."""
    return subprocess.run(_command(jar, words), check=False).returncode


def _command(jar: Path, words: Sequence[str]) -> list[str]:
    return ["java", *_options(jar, words), "-jar", str(jar), *words]


def _options(jar: Path, words: Sequence[str]) -> list[str]:
    """Returns the options of the JVM: the class archive, and a compiler that suits the input size."""
    has_much_input = list(words[:2]) in INCOMPLETE or _input_bytes(words) > MUCH_INPUT
    compiler = GOOD_COMPILER if has_much_input else QUICK_COMPILER
    return [*HEAP, *compiler, *command_line_jar.class_archive_options(jar)]


def _input_bytes(words: Sequence[str]) -> int:
    """Returns the size of the files in the command line, in bytes. A compressed file counts with its
    estimated uncompressed size; standard input, which is read if no file is given, with that of an average
    log."""
    if ASKING.intersection(words):
        return 0
    files = sum(_unfolded_bytes(Path(word)) for word in words)
    return files if files and STANDARD_INPUT not in words else max(files, LITTLE_INPUT)


def _unfolded_bytes(path: Path) -> int:
    """Returns the estimated uncompressed size of a regular file; 0 otherwise: a filter may be too long for a
    path."""
    try:
        status = path.stat()
    except OSError:
        return 0
    size = status.st_size if stat.S_ISREG(status.st_mode) else 0
    return size * (COMPRESSION if path.suffix in COMPRESSED else 1)
