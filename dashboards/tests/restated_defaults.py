"""Finds the values that a file of dashboards/ states although they are its defaults."""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from tailrace.dashboards import asset_files

Place = tuple[str | int, ...]
"""The keys and positions that lead to a value of a file."""


def repeated(directory: Path) -> Iterator[str]:
    """Yields file, line and text of each value that is also a default."""
    written = asset_files.read(directory)
    shared = asset_files.shared_values(directory, written)
    for asset in written:
        for place in redundant(
            asset.content, lambda content, kind=asset.kind: shared.complete(kind, content)
        ):
            yield f"{asset.file}:{described((directory / asset.file).read_text(), place)}"


def redundant(content: dict[str, Any], complete: Callable[[dict[str, Any]], Any]) -> Iterator[Place]:
    """Yields each value that does not change the completed content, without values inside a yielded one."""
    completed, last = complete(content), None
    for place in places(content):
        inside_last = last is not None and place[: len(last)] == last
        if not inside_last and complete(without(content, place)) == completed:
            last = place
            yield place


def places(value: Any, above: Place = ()) -> Iterator[Place]:
    """Yields the place of each key of a file, outer ones first."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield (*above, key)
            yield from places(each, (*above, key))
    elif isinstance(value, list):
        for position, each in enumerate(value):
            yield from places(each, (*above, position))


def without(value: Any, place: Place) -> Any:
    changed, (key, *below) = copy.copy(value), place
    if below:
        changed[key] = without(value[key], tuple(below))
    else:
        del changed[key]
    return changed


def described(text: str, place: Place) -> str:
    """Returns the line of a value in the text of a file, and what to delete there."""
    key, value = nodes(text, place)
    stated = " ".join(text[key.start_mark.index : value.end_mark.index].split())
    return f"{key.start_mark.line + 1}: delete `{stated}`, which is the default"


def nodes(text: str, place: Place) -> tuple[yaml.Node, yaml.Node]:
    """Returns the key at a place and its value, with their positions in the text."""
    key = value = yaml.compose(text)
    for step in place:
        if isinstance(value, yaml.MappingNode):
            key, value = next((each, below) for each, below in value.value if each.value == step)
        else:
            key = value = value.value[step]
    return key, value
