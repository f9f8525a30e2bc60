"""A person as an OpenID provider or a directory describes it, and the errors of a login."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class LoginError(Exception):
    """The login is refused; the message is one or two sentences for the person."""


class RevokedError(LoginError):
    """The server no longer knows the person, or has ended the login."""


class UnreachableError(LoginError):
    """The server does not answer, so that nothing is known about the person."""


@dataclass(frozen=True)
class Person:
    """What a server says about a person at one time."""

    provider: str
    """`oidc` or `ldap`."""
    subject: str
    """Identifies the person at the provider, also after a change of the name."""
    name: str
    """The user name in Superset."""
    groups: frozenset[str]
    email: str = ""
    first_name: str = ""
    last_name: str = ""


MAX_NAME = 64
"""Characters of a user name, as in Superset's database."""


def checked_name(name: object) -> str:
    """Returns a name that pages, logs and statements can show. Raises LoginError."""
    if (
        not isinstance(name, str)
        or not 0 < len(name) <= MAX_NAME
        or not name.isprintable()
        or name != name.strip()
    ):
        raise LoginError(
            f"The server names you {str(name)[:MAX_NAME]!r}; a name has 1 to {MAX_NAME} printable characters."
        )
    return name


def groups_of(claims: Mapping[str, Any], path: str) -> frozenset[str]:
    """Returns the groups at a path such as `groups` or `realm_access.roles`; none if the claim is missing."""
    found: Any = claims.get(path)
    if found is None:
        found = claims
        for name in path.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
    listed = [found] if isinstance(found, str) else found
    return (
        frozenset(each for each in listed if isinstance(each, str))
        if isinstance(listed, list)
        else frozenset()
    )
