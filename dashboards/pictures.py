"""Reduces screenshots of dashboards to 128 colours, enough for text, lines and bars.

python -m dashboards.pictures FILE... rewrites PNG files in place.
"""

import sys
from pathlib import Path

from PIL import Image

COLOURS = 128


def shrink(picture: Path) -> None:
    """Rewrites a PNG file with a palette of its most frequent colours, without dithering.

    Median cut keeps the common colours exactly: the greys of panels and of lines in tables too.
    """
    with Image.open(picture) as image:
        reduced = image.convert("RGB").quantize(
            COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
        )
    reduced.save(picture, "PNG", optimize=True)


def main() -> None:
    for name in sys.argv[1:]:
        shrink(Path(name))


if __name__ == "__main__":
    main()
