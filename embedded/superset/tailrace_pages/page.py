"""What the registration needs to know about a page."""

from dataclasses import dataclass

from tailrace_pages import permissions


@dataclass(frozen=True)
class Page:
    """A page of the menu. Raises ValueError for a title that permissions.MENU does not have."""

    title: str
    path: str
    """Its first address, such as `/tailrace/queries/`."""

    def __post_init__(self) -> None:
        if self.title not in permissions.MENU:
            raise ValueError(f"{self.title!r} is not in permissions.MENU")

    @property
    def bundle(self) -> str:
        return permissions.MENU[self.title]
