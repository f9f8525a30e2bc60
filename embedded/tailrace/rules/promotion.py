"""Promotes a canary rule: removes its tag from its file and keeps everything else, comments included."""

from collections.abc import Iterator
from pathlib import Path

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from tailrace.errors import ReportedError

TAG = "tailrace.canary"
"""As RuleHeader.CANARY_TAG of the detect job."""
SUFFIXES = (".yml", ".yaml")
NAMES = ("id", "name", "title")


class PromotionError(ReportedError):
    """The rule cannot be promoted; the message is shown to the user."""


def promote(directory: Path, rule: str) -> Path:
    """Removes the tag of the rule with this id, name or title; returns its file. Raises PromotionError."""
    found = [(file, item) for file in _files(directory) for item in _tags(file, rule)]
    if not found:
        raise PromotionError(
            f"{directory} contains no canary rule {rule!r}: none with this id, name or title"
        )
    if len(found) > 1:
        files = ", ".join(sorted({str(file) for file, _ in found}))
        raise PromotionError(f"{len(found)} canary rules are called {rule!r}, in {files}; give the id")
    ((file, place),) = found
    text = _read(file)
    promoted = _without(text, *place)
    if _documents(promoted) != [_untagged(each, rule) for each in _documents(text)]:
        raise PromotionError(f"{file}: cannot remove the tag {TAG} without another change; edit the file")
    file.write_text(promoted, newline="")
    return file


def _files(directory: Path) -> list[Path]:
    if directory.is_file():
        return [directory]
    found = sorted(file for file in directory.rglob("*") if file.suffix in SUFFIXES)
    if not found:
        raise PromotionError(f"{directory} contains no rules")
    return found


def _read(file: Path) -> str:
    with file.open(newline="") as opened:
        return opened.read()


def _tags(file: Path, rule: str) -> Iterator[tuple[SequenceNode, int]]:
    """Yields the tags of matching rules, and the place of the canary tag in them."""
    try:
        documents = list(yaml.compose_all(_read(file), yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PromotionError(f"{file}: cannot be read: {error}") from error
    for document in documents:
        keys = _keys(document)
        tags = keys.get("tags")
        if isinstance(tags, SequenceNode) and _is_named(keys, rule):
            yield from ((tags, place) for place, item in enumerate(tags.value) if item.value == TAG)


def _keys(document: Node | None) -> dict[str, Node]:
    return {key.value: value for key, value in document.value} if isinstance(document, MappingNode) else {}


def _is_named(keys: dict[str, Node], rule: str) -> bool:
    names = [keys[name].value for name in NAMES if isinstance(keys.get(name), ScalarNode)]
    return rule.casefold() in [name.casefold() for name in names]


def _without(text: str, tags: SequenceNode, place: int) -> str:
    """Returns the text without an item: `a, ITEM` or `ITEM, b` in a list in brackets, otherwise its line."""
    items = tags.value
    begin, end = items[place].start_mark.index, items[place].end_mark.index
    if tags.flow_style:
        if place:
            begin = items[place - 1].end_mark.index
        elif len(items) > 1:
            end = items[1].start_mark.index
        return text[:begin] + text[end:]
    begin = text.rfind("\n", 0, begin) + 1
    end = text.find("\n", end) + 1 or len(text)
    if len(items) > 1:
        return text[:begin] + text[end:]
    return text[: text.rfind("tags", 0, begin)] + text[end:]


def _documents(text: str) -> list[object]:
    """Returns the documents of a text; an empty list of tags is the same as none."""
    try:
        return [_without_tags(each) if not _tags_of(each) else each for each in yaml.safe_load_all(text)]
    except yaml.YAMLError:
        return []


def _untagged(document: object, rule: str) -> object:
    """Returns the document without the canary tag if it is that of the rule."""
    tags = _tags_of(document)
    if TAG not in tags or rule.casefold() not in [str(document.get(name)).casefold() for name in NAMES]:
        return document
    rest = [tag for tag in tags if tag != TAG]
    return {**document, "tags": rest} if rest else _without_tags(document)


def _tags_of(document: object) -> list:
    return (document.get("tags") or []) if isinstance(document, dict) else []


def _without_tags(document: object) -> object:
    if not isinstance(document, dict):
        return document
    return {key: value for key, value in document.items() if key != "tags"}
