"""Product and version of a server. Standard library only: the dashboards import this module too."""

import re
from dataclasses import dataclass

MYSQL, MARIADB, PERCONA = "mysql", "mariadb", "percona"


@dataclass(frozen=True)
class Product:
    """Product and version. `version` has three numbers, `text` is the server's version string."""

    name: str
    version: tuple[int, int, int]
    text: str
    comment: str = ""

    @property
    def is_mariadb(self) -> bool:
        return self.name == MARIADB

    def since(self, *version: int) -> bool:
        """Returns whether it has this version or a later one."""
        return self.version >= version


def product_of(text: str, comment: str) -> Product:
    """Identifies the product by @@version and @@version_comment, such as `10.11.14-MariaDB-0+deb12u2-log`."""
    numbers = [int(number) for number in re.findall(r"\d+", text)[:3]]
    version = tuple([*numbers, 0, 0, 0][:3])
    if "mariadb" in text.lower() or "mariadb" in comment.lower():
        return Product(MARIADB, version, text, comment)
    return Product(PERCONA if "percona" in comment.lower() else MYSQL, version, text, comment)
