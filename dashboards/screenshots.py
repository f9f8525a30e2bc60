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


def take(url: str, secrets: str, names: list[str], directory: Path) -> None:
    """Raises CalledProcessError if the browser fails."""
    environment = {**os.environ, "SUPERSET_URL": url, "SECRETS": secrets}
    subprocess.run(["node", "screenshots.mjs", directory, *names], cwd=TESTS, env=environment, check=True)


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
        take(url, secrets, names, Path(directory))
        if messages := keep(Path(directory), IMAGES):
            sys.exit("\n".join(messages))


if __name__ == "__main__":
    main()
