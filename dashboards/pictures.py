"""Reduces screenshots of dashboards to at most 256 colours, enough for text, lines and bars.

python -m dashboards.pictures FILE... rewrites PNG files in place.
"""

import sys
from pathlib import Path

from PIL import Image, ImageChops

COLOURS = (256, 128, 64, 32)
"""Tried in this order until a picture is small enough."""
LIMIT = 250_000
"""Bytes of a picture of the documentation."""
FILTER_BAR = 280
"""Pixels on the left that are no content of a dashboard: the filter bar has buttons at its bottom."""
WORK_PAGES = ("page-", "other-")
"""Begins of the names of pictures of work pages, which have no filter bar."""
MARGIN = 24
"""Pixels below the content that stay."""


def shrink(picture: Path) -> None:
    """Rewrites a PNG file with a palette of its most frequent colours, without dithering.

    Median cut keeps the common colours exactly: the greys of panels and of lines in tables too. Raises
    ValueError for a picture that stays larger than LIMIT.
    """
    with Image.open(picture) as image:
        has_bar = not picture.name.startswith(WORK_PAGES)
        whole = trimmed(image.convert("RGB"), FILTER_BAR if has_bar else 0)
    for colours in COLOURS:
        reduced = whole.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        reduced.save(picture, "PNG", optimize=True)
        if picture.stat().st_size <= LIMIT:
            return
    raise ValueError(
        f"{picture.name}: {picture.stat().st_size} bytes, at most {LIMIT}; show less of the page"
    )


def trimmed(image: Image.Image, left: int) -> Image.Image:
    """Returns the image without empty rows at its bottom: the window is as high as the highest tab.

    `left` is the number of pixels that are no content.
    """
    width, height = image.size
    if width <= left:
        return image
    content = image.crop((left, 0, width, height))
    empty = Image.new("RGB", content.size, content.getpixel((content.width - 1, height - 1)))
    box = ImageChops.difference(content, empty).getbbox()
    return image.crop((0, 0, width, min(height, box[3] + MARGIN))) if box else image


def main() -> None:
    for name in sys.argv[1:]:
        shrink(Path(name))


if __name__ == "__main__":
    main()
