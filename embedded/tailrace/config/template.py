"""Generates configuration files from templates: `${NAME}` is replaced, unknown names are an error."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path


def fill(template: Path, values: Mapping[str, object] | Callable[[str], object]) -> str:
    """Returns the text of a template with every `${NAME}` replaced.

    Raises KeyError with the file and the placeholder.
    """
    lookup = values if callable(values) else values.__getitem__

    def value(found: re.Match[str]) -> str:
        try:
            return str(lookup(found[1]))
        except KeyError:
            raise KeyError(f"{template}: no value for {found[0]}") from None

    return re.sub(r"\$\{([A-Z0-9_]+)\}", value, template.read_text())


def write_private(path: Path, text: str) -> None:
    """Writes a generated file that contains secrets or hashes of them; mode 0600."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(text)
