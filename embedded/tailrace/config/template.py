"""Configuration files from templates: `${NAME}` is filled in, anything unknown is an error."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path


def fill(template: Path, values: Mapping[str, object] | Callable[[str], object]) -> str:
    """The template's text with every `${NAME}` filled in. Raises KeyError naming file and placeholder."""
    lookup = values if callable(values) else values.__getitem__

    def value(found: re.Match[str]) -> str:
        try:
            return str(lookup(found[1]))
        except KeyError:
            raise KeyError(f"{template}: nothing is known to fill in for {found[0]}") from None

    return re.sub(r"\$\{([A-Z0-9_]+)\}", value, template.read_text())


def write_private(path: Path, text: str) -> None:
    """Writes a generated file that holds secrets or hashes of them; mode 0600."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(text)
