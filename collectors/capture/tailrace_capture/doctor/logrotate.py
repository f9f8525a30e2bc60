"""Parses logrotate's configuration: enough of logrotate.conf(5) to determine how a file is rotated."""

import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FILES = ("etc/logrotate.conf", "etc/logrotate.d/*")
_NO_CONFIGURATION = (".dpkg-old", ".dpkg-dist", ".rpmsave", ".rpmorig", ".bak", "~")


@dataclass(frozen=True)
class Stanza:
    """The effective directives for some paths, including the global ones before the stanza."""

    file: str
    patterns: tuple[str, ...]
    directives: frozenset[str]
    scripts: str
    """The text of its scripts, such as of postrotate."""

    def covers(self, path: str) -> bool:
        return any(fnmatch.fnmatchcase(path, pattern) for pattern in self.patterns)


def stanza_of(root: Path, path: str) -> Stanza | None:
    """Returns the first stanza below `root` that covers a path; None if there is none or it is not
    readable."""
    return next((stanza for stanza in stanzas(root) if stanza.covers(path)), None)


def stanzas(root: Path) -> Iterator[Stanza]:
    """Yields all stanzas, those of logrotate.conf first."""
    for pattern in FILES:
        for file in sorted(root.glob(pattern)):
            if file.is_file() and not file.name.endswith(_NO_CONFIGURATION):
                try:
                    yield from parse(str(file), file.read_text(errors="replace"))
                except OSError:
                    continue


def parse(name: str, text: str) -> Iterator[Stanza]:
    """Yields the stanzas of one file."""
    common: set[str] = set()
    waiting: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        words = line.split("#", maxsplit=1)[0].replace("{", " { ").split()
        if "{" in words:
            patterns = [*waiting, *words[: words.index("{")]]
            waiting = []
            first = words[words.index("{") + 1 :]
            own, scripts = (set(), "") if "}" in first else _body(lines)
            own |= {*first} - {"}"}
            # A later directive overrides an earlier one: nocopytruncate after copytruncate.
            directives = frozenset(each for each in common | own if f"no{each}" not in own)
            yield Stanza(name, tuple(each.strip("\"'") for each in patterns), directives, scripts)
        elif words and (words[0].startswith(("/", '"', "'"))):
            waiting.extend(words)
        elif words:
            common.add(words[0])


def _body(lines: Iterator[str]) -> tuple[set[str], str]:
    """Returns the directives up to the closing brace, and the text of its scripts."""
    directives: set[str] = set()
    script: list[str] = []
    inside = False
    for line in lines:
        word = line.strip().split(" ")[0].split("\t")[0]
        if word == "endscript":
            inside = False
        elif inside:
            script.append(line.strip())
        elif word in ("postrotate", "prerotate", "firstaction", "lastaction", "preremove"):
            inside = True
        elif word.startswith("}"):
            break
        elif word and not word.startswith("#"):
            directives.add(word)
    return directives, "\n".join(script)
