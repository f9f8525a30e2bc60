"""The rules, exceptions and texts in the rule files of this installation, as people read them.

The files are those that `tailrace rules push` sends. What a job runs may be another version: the page of a
rule names the file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tailrace.config.resources import ROOT

OWN = ROOT / "rules"
"""The rules of this installation."""
WITHOUT_RULES = ("detectors.yaml", "data-classes.yaml")
CORRELATION, DETECTION, EXCEPTION, FILTER = "correlation", "detection", "exception", "filter"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Dumper(yaml.SafeDumper):
    """Writes lists indented below their key, as rule files do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


@dataclass(frozen=True)
class RuleException:
    """An exception of a rule."""

    title: str
    selection: str
    """YAML."""
    reason: str
    owner: str
    expires: str
    file: str


@dataclass(frozen=True)
class Counting:
    """A correlation that uses a rule."""

    key: str
    title: str
    generates: bool
    """Whether the rule also raises alerts itself."""


@dataclass(frozen=True)
class RuleText:
    """A rule or a correlation."""

    key: str
    """Its id, or else its name or its title: the `rule_id` of its alerts."""
    name: str
    title: str
    description: str
    level: str
    status: str
    tags: tuple[str, ...]
    false_positives: tuple[str, ...]
    next_steps: tuple[str, ...]
    definition: str
    """Log source and detection with the rules to which it yields, or the correlation; YAML."""
    file: str
    exceptions: list[RuleException] = field(default_factory=list, compare=False)
    counted_by: list[Counting] = field(default_factory=list, compare=False)

    @property
    def is_only_counted(self) -> bool:
        """Whether it raises no alert itself: correlations use it, and none of them says `generate: true`."""
        return bool(self.counted_by) and not any(each.generates for each in self.counted_by)


@cache
def load(directory: Path = OWN) -> Mapping[str, RuleText]:
    """Returns the rules of a directory by their keys. Files that are no YAML are skipped."""
    documents = list(_documents(directory))
    rules = [_rule(each, file) for each, file in documents if DETECTION in each or CORRELATION in each]
    found = {rule.key: rule for rule in rules}
    known = {alias: rule for rule in rules for alias in (rule.title, rule.name, rule.key) if alias}
    for document, _ in documents:
        correlation = document.get(CORRELATION)
        if isinstance(correlation, dict):
            _note_counted(known, _rule(document, ""), correlation)
    for document, file in documents:
        exception = document.get(EXCEPTION)
        rule = known.get(_text(exception, "rule")) if isinstance(exception, dict) else None
        if rule is not None:
            rule.exceptions.append(_exception(document, exception, file))
    return found


def _note_counted(known: Mapping[str, RuleText], by: RuleText, correlation: Mapping[str, Any]) -> None:
    """Adds a correlation to the rules that it uses."""
    given = correlation.get("rules")
    counting = Counting(by.key, by.title, correlation.get("generate") is True)
    for name in given if isinstance(given, list) else [given]:
        if str(name) in known:
            known[str(name)].counted_by.append(counting)


def _documents(directory: Path) -> Iterator[tuple[dict[str, Any], str]]:
    for path in sorted((*directory.rglob("*.yml"), *directory.rglob("*.yaml"))):
        if path.name in WITHOUT_RULES:
            continue
        try:
            documents = list(yaml.load_all(path.read_text(encoding="utf-8"), _LOADER))
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            continue
        file = path.relative_to(directory).as_posix()
        yield from ((each, file) for each in documents if isinstance(each, dict) and FILTER not in each)


def _rule(document: dict[str, Any], file: str) -> RuleText:
    name, title = _text(document, "name"), _text(document, "title")
    names = ("yields_to", "logsource", DETECTION, CORRELATION)
    return RuleText(
        key=_text(document, "id") or name or title,
        name=name,
        title=title,
        description=_text(document, "description"),
        level=_text(document, "level"),
        status=_text(document, "status"),
        tags=_texts(document, "tags"),
        false_positives=_texts(document, "falsepositives"),
        next_steps=_texts(document, "next_steps"),
        definition=_yaml({key: document[key] for key in names if key in document}),
        file=file,
    )


def _exception(document: dict[str, Any], exception: dict[str, Any], file: str) -> RuleException:
    return RuleException(
        title=_text(document, "title"),
        selection=_yaml(exception.get("selection")),
        reason=_text(exception, "reason"),
        owner=_text(exception, "owner"),
        expires=_text(exception, "expires"),
        file=file,
    )


def _yaml(value: object) -> str:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100).rstrip()


def _text(document: Mapping[str, Any], key: str) -> str:
    value = document.get(key)
    return "" if value is None else str(value).strip()


def _texts(document: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = document.get(key)
    return tuple(map(str, value)) if isinstance(value, list) else ()
