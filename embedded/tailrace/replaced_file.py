"""Files that another process reads at any time, such as heartbeats and states."""

from pathlib import Path


def write(path: Path, text: str) -> None:
    """Replaces a file at once: a reader finds the old or the new text. Raises OSError.

    After a crash of the machine the file may be empty; `tailrace.transparency.files` writes files that
    survive one.
    """
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(text)
    draft.replace(path)
