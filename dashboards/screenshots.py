"""Takes the pictures of the documentation from the running demo: tests/screenshots.mjs, then pictures.py.

python -m dashboards.screenshots URL SECRETS [NAME...] writes docs/images/NAME.png, by default all pictures.
SECRETS is the directory with the passwords of Superset's users, in the demo's home. The browser writes into a
temporary directory, so that no picture gets into docs/images before it is reduced.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from dashboards.pictures import shrink

TESTS = Path(__file__).parent / "tests"
IMAGES = Path(__file__).parents[1] / "docs" / "images"


TIMEOUT_MS = 120_000
"""The longest time of an action of the browser: a picture that takes longer is reported."""


def take(url: str, secrets: str, names: list[str], directory: Path) -> bool:
    """Returns whether all pictures are there and show what they should; the browser prints the errors."""
    environment = {
        **os.environ,
        "SUPERSET_URL": url,
        "SECRETS": secrets,
        "BROWSER_TIMEOUT_MS": str(TIMEOUT_MS),
    }
    return (
        subprocess.run(["node", "screenshots.mjs", directory, *names], cwd=TESTS, env=environment).returncode
        == 0
    )


def keep(taken: Path, images: Path) -> list[str]:
    """Reduces pictures and copies them to `images`. Returns a message for each that stays too large."""
    messages = []
    for picture in sorted(taken.glob("*.png")):
        try:
            shrink(picture)
        except ValueError as error:
            messages.append(str(error))
        else:
            (images / picture.name).write_bytes(picture.read_bytes())
    return messages


def main() -> None:
    url, secrets, *names = sys.argv[1:]
    with TemporaryDirectory() as directory:
        try:
            complete = take(url, secrets, names, Path(directory))
        finally:  # also after Ctrl-C
            messages = keep(Path(directory), IMAGES)
    if messages or not complete:
        sys.exit("\n".join(messages) or "not all pictures could be taken, or some show faults: see above")


if __name__ == "__main__":
    main()
