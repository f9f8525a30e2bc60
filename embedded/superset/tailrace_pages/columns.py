"""The columns of a table of a page: one description for its HTML (parts.html) and its CSV (csv_table.py)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tailrace_pages import formats

WIDTHS = (4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 48, 60)
"""Possible widths of columns in characters; static/pages.css has a class for each."""


LEAST_REST, PADDING = 20, 2
"""Characters of a column without a width in a narrow window, and of the space around a cell."""
MOST_LEAST = 250
UNITS = {"duration": "s", "bytes": "bytes", "share": "0 to 1"}
"""Units of values in files, by the kind of a column. Pages write the unit next to each value."""


@dataclass(frozen=True)
class Column:
    """A column. Raises ValueError for a width or kind that does not exist."""

    key: str
    """Of the row."""
    title: str
    """Names what is shown and its unit, such as `Event (UTC)`."""
    width: int = 0
    """One of WIDTHS, in characters; 0: the rest of the table's width. One column at least has 0."""
    kind: str = "text"
    """A key of formats.KINDS: how the value is written, and whether it is aligned to the right."""
    link: str = ""
    """The key of the row that has the address of a link; the cell has no link if that is empty."""
    note: str = ""
    """Explanation of the title, as its tooltip."""

    def __post_init__(self) -> None:
        if self.width and self.width not in WIDTHS:
            raise ValueError(f"{self.key}: width {self.width}; there are {WIDTHS}")
        if self.kind not in formats.KINDS:
            raise ValueError(f"{self.key}: kind {self.kind!r}; there are {', '.join(formats.KINDS)}")

    @property
    def heading(self) -> str:
        """The title with its unit, for files."""
        unit = UNITS.get(self.kind)
        return self.title if unit is None or self.title.endswith(")") else f"{self.title} ({unit})"

    @property
    def numeric(self) -> bool:
        return self.kind in formats.NUMERIC

    @property
    def classes(self) -> str:
        """The classes of its cells."""
        return f"k-{self.kind}{' number' if self.numeric else ''}"


def least_width(columns: Sequence[Column]) -> int:
    """Returns the least width of a table in characters, a multiple of 10: a narrow window scrolls the table.

    static/pages.css has a class for each, from 20 to MOST_LEAST.
    """
    needed = sum((column.width or LEAST_REST) + PADDING for column in columns)
    return min(MOST_LEAST, math.ceil(needed / 10) * 10)
