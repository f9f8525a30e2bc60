"""Runs the commands that need no server, over all groups of inputs, and writes rows to files.

Files: <command>/<group>.jsonl or .txt. Messages and exit codes are rows too: the postings of `tailrace parse`
are messages.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from e2e.compare.inputs import LOGS, PLANS, STATEMENTS, Group
from e2e.compare.versions import Version

COMMON = ("--instance", "compare", "--tz", "UTC")
ALL = "1000000"
"""The number of groups of a digest that is compared completely."""

Split = Callable[[dict], Iterator[dict]]


@dataclass(frozen=True)
class Command:
    """One call: its words before the files. With `dead_letters`, it also writes that file."""

    name: str
    kind: str
    suffix: str
    words: tuple[str, ...]
    dead_letters: bool = False
    mixed: bool = False
    """Slow logs and others are read together, because several logs of a server record the same action."""
    split: Split | None = None
    """Makes rows of the one object that a command writes."""


def _rows_of_digest(report: dict) -> Iterator[dict]:
    groups = report.pop("groups", [])
    yield {"report": report}
    yield from ({"group": group} for group in groups)


COMMANDS = (
    Command("parse", LOGS, ".jsonl", ("parse", "--json", *COMMON), dead_letters=True),
    Command("digest", LOGS, ".jsonl", ("digest", "--json", "--limit", ALL, *COMMON), split=_rows_of_digest),
    Command("digest-text", LOGS, ".txt", ("digest", "--color", "never", "--limit", "1000", *COMMON)),
    Command("detect", LOGS, ".jsonl", ("detect", "--json", "--rules", "RULES", *COMMON), mixed=True),
    Command("plan", PLANS, ".jsonl", ("plan", "--json")),
    Command("plan-text", PLANS, ".txt", ("plan", "--color", "never")),
    Command("fingerprint", STATEMENTS, ".txt", ("fingerprint",)),
)


def run_all(version: Version, groups: list[Group], names: Collection[str], places: tuple[Path, Path]) -> None:
    """Runs the named commands over every group of their kind. `places`: home directory, then outputs."""
    home, out = places
    for command in (command for command in COMMANDS if command.name in names):
        ours = [group for group in groups if group.kind == command.kind]
        ours = _merged(ours) if command.mixed else ours
        print(f"{version.name}: {command.name}, {len(ours)} groups", flush=True)
        for group in ours:
            _run(version, command, group, (home, out / command.name / group.name))


def _merged(groups: list[Group]) -> list[Group]:
    """Returns one group for each origin, the first part of a name."""
    files: dict[str, list[Path]] = defaultdict(list)
    for group in groups:
        files[group.name.split(".")[0]] += group.files
    return [Group(name, LOGS, each) for name, each in files.items()]


def _run(version: Version, command: Command, group: Group, places: tuple[Path, Path]) -> None:
    home, target = places
    target.parent.mkdir(parents=True, exist_ok=True)
    words = [word.replace("RULES", str(version.rules)) for word in command.words]
    if command.dead_letters:
        dead = target.with_name(f"{target.name}.dead-letters.jsonl")
        words += ["--dead-letters", str(dead)]
    rows = target.with_name(f"{target.name}{command.suffix}")
    code, messages = version.run([*words, *group.files], home, rows)
    target.with_name(f"{target.name}.messages.txt").write_text(f"{messages}exit code {code}\n")
    if command.split and rows.stat().st_size:
        report = json.loads(rows.read_text())
        rows.write_text("".join(json.dumps(row) + "\n" for row in command.split(report)))
