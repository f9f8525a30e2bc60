"""Addresses of the login, and where a login may lead."""

PAGE = "/tailrace/login/"
LOCAL = "/login/?local=1"
"""Superset's own form, for local users such as `admin`."""


def safe_target(path: str) -> str:
    """Returns a path of this server; `/` for any other address, also those that browsers read as one."""
    is_path = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_path and "\\" not in path and not path.startswith((PAGE, "/login", "/logout")) else "/"
