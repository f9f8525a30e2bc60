"""Starts the Java command line: the same pure code as in the Flink job, on a file, without any server.

Imports little: the stack's modules take longer to load than a small log to read.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from tailrace.config import content_hash
from tailrace.config.resources import REPOSITORY
from tailrace.config.settings import Settings, SettingsError

JAR = "cli.jar"
COMMANDS = {
    "digest": "report the heaviest statements of a log file; needs no server",
    "parse": "turn a log file into events, one JSON object a line; needs no server",
    "fingerprint": "show a statement's fingerprint and query_id; needs no server",
    "plan": "show and compare a statement's plans, with advice; needs no server",
    "detect": "evaluate Sigma rules on log files; needs no server",
    "rules": "check Sigma rules, which needs no server; push them to the detect job (rules push DIR)",
}
NOT_JAVA = (["rules", "push"],)
"""Words after which a command is not the JVM's."""

MUCH_INPUT = 400_000_000
"""Bytes from which on the optimising compiler, which costs a second, wins it back."""
LITTLE_INPUT = 20_000_000
"""What standard input counts as where no file is named, bytes."""
STANDARD_INPUT = "-"
ASKING = {"-h", "--help", "-V", "--version"}
COMPRESSED = (".gz", ".zst")
COMPRESSION = 12
HEAP = ("-XX:+UseSerialGC", "-Xms384m", "-Xmn24m")
"""New objects nearly fit into the processor's cache. The old ones of a digest of very many classes find room
without a collection of the whole; what is not used of it takes no memory."""
QUICK_COMPILER = ("-XX:TieredStopAtLevel=1",)
GOOD_COMPILER = (
    "-XX:-TieredCompilation",
    "-XX:FreqInlineSize=80",
    "-XX:InlineSmallCode=600",
    "-XX:MaxInlineLevel=6",
)
"""Not the best code that it could make: with its defaults it takes four times as long and wins nothing."""
QUIET = ("-Xlog:disable", "-Xlog:all=error:stderr")
"""An archive of classes that does not fit this JVM is no news."""


def runs(words: Sequence[str]) -> bool:
    """Whether a command line is for the JVM."""
    return bool(words) and words[0] in COMMANDS and list(words[:2]) not in NOT_JAVA


def installed_jar(settings: Settings) -> Path | None:
    """The jar that was built last for this installation, if there is one; its sources may have changed."""
    entry = last_build(settings)
    return entry.resolve() / JAR if entry.exists() else None


def last_build(settings: Settings) -> Path:
    """A link to the jars that were built last for this checkout; other checkouts share the cache."""
    return settings.cache / "jobs" / f"last-{content_hash.fingerprint(str(REPOSITORY))}"


def class_archive(jar: Path) -> Path:
    """Where the command line's classes lie as the JVM maps them: half a second less at each start."""
    return jar.with_suffix(".jsa")


def start_if_installed(words: Sequence[str]) -> None:
    """Replaces this process by the JVM. Returns where no jar is installed or a setting is wrong."""
    try:
        jar = installed_jar(Settings.from_environment())
    except SettingsError:
        return
    if jar is not None:
        start(jar, words)


def start(jar: Path, words: Sequence[str]) -> NoReturn:
    """Replaces this process by the JVM."""
    os.execvp("java", ["java", *_options(jar, words), "-jar", str(jar), *words])


def _options(jar: Path, words: Sequence[str]) -> list[str]:
    """What the JVM is told: archived classes, and no more compiling than the input is worth."""
    compiler = GOOD_COMPILER if _input_bytes(words) > MUCH_INPUT else QUICK_COMPILER
    return [*HEAP, *compiler, f"-XX:SharedArchiveFile={class_archive(jar)}", "-Xshare:auto", *QUIET]


def _input_bytes(words: Sequence[str]) -> int:
    """The size of the files among the words. Compressed ones count as much as they may unfold to; standard
    input, which is read where no file is named, counts as much as a middling log."""
    if ASKING.intersection(words):
        return 0
    files = sum(_unfolded_bytes(Path(word)) for word in words)
    return files if files and STANDARD_INPUT not in words else max(files, LITTLE_INPUT)


def _unfolded_bytes(path: Path) -> int:
    """What a regular file may unfold to; 0 for all else: a filter may be too long for a name."""
    try:
        status = path.stat()
    except OSError:
        return 0
    size = status.st_size if stat.S_ISREG(status.st_mode) else 0
    return size * (COMPRESSION if path.suffix in COMPRESSED else 1)
