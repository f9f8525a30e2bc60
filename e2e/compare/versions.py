"""The two versions: a worktree of the base, and this working tree or a worktree of another version.

Only their `bin/tailrace` is used.
"""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tailrace.config.resources import REPOSITORY

TREES = REPOSITORY / "target" / "compare"
BASE_TREE = TREES / "base"
OTHER_TREE = TREES / "other"
"""Always the same places: the cache of jars keeps a link for each directory with sources."""
COMMAND_SECONDS = 900
SUCCESS_OR_REFUSED = (0, 1)
"""Exit codes of a command that has run: 1 reports an unreadable file, which is an output too."""


@dataclass(frozen=True)
class Version:
    """A checkout, and the rules with which it detects."""

    name: str
    repository: Path
    commit: str
    rules: Path

    def run(self, words: Sequence[str | Path], home: Path, out: Path) -> tuple[int, str]:
        """Runs `tailrace` and writes its standard output to a file; returns exit code and standard error.

        The environment contains no settings but the home directory, so that both versions have the same.
        Raises RuntimeError if the command line is refused or crashes.
        """
        kept = {name: text for name, text in os.environ.items() if _is_kept(name)}
        with out.open("wb") as file:
            done = subprocess.run(
                [self.repository / "bin" / "tailrace", *words],
                env={**kept, "TAILRACE_HOME": str(home), "NO_COLOR": "1"},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.PIPE,
                timeout=COMMAND_SECONDS,
                check=False,
            )
        errors = done.stderr.decode(errors="backslashreplace")
        if done.returncode not in SUCCESS_OR_REFUSED:
            raise RuntimeError(f"{self.name}: tailrace {words[0]} ended with {done.returncode}: {errors}")
        errors = errors.replace(f"{self.rules}/", "REPOSITORY/rules/")
        return done.returncode, errors.replace(f"{self.repository}/", "REPOSITORY/")

    def build(self) -> None:
        """Builds the jars, unless those of these sources are in the cache."""
        print(f"{self.name}: {self.commit[:12]}, jars", flush=True)
        subprocess.run(
            [self.repository / "bin" / "tailrace", "fingerprint"],
            env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
            input=b"select 1\n",
            stdout=subprocess.DEVNULL,
            check=True,
        )


def _is_kept(name: str) -> bool:
    return name != "PYTHONPATH" and (name == "TAILRACE_CACHE" or not name.startswith("TAILRACE_"))


@contextmanager
def both(base: str, other: str = "", base_rules: bool = False) -> Iterator[tuple[Version, Version]]:
    """Yields both versions, built: the base, and this working tree, or the revision `other` if there is one.

    With `base_rules`, both detect with the rules of the base. Worktrees of revisions are removed afterwards.
    """
    tree = OTHER_TREE if other else REPOSITORY
    rules = BASE_TREE / "rules"
    before = Version("before", BASE_TREE, _commit(base), rules)
    after = Version("after", tree, _commit(other or "HEAD"), rules if base_rules else tree / "rules")
    checkouts = [before, *([after] if other else [])]
    for each in checkouts:
        remove_worktree(each.repository)
    TREES.mkdir(parents=True, exist_ok=True)
    try:
        for each in checkouts:
            _git("worktree", "add", "--quiet", "--detach", str(each.repository), each.commit)
        before.build()
        after.build()
        yield before, after
    finally:
        for each in checkouts:
            remove_worktree(each.repository)


def remove_worktree(tree: Path) -> None:
    """Removes a worktree, also one that an interrupted run has left."""
    if tree.exists():
        _git("worktree", "remove", "--force", str(tree))
    _git("worktree", "prune")


def _commit(revision: str) -> str:
    return _git("rev-parse", "--verify", f"{revision}^{{commit}}")


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", REPOSITORY, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()
