"""What a fact is: something that a server says of itself, under a key, as names and texts."""

from dataclasses import dataclass

from tailrace_capture.server import Server, ServerError


@dataclass(frozen=True)
class Fact:
    """One thing of one kind. `key` is unique within its kind and the same at every look."""

    key: str
    attributes: dict[str, str]


def in_order(facts: list[Fact]) -> list[Fact]:
    """Sorted by key, attributes by name: equal facts give equal bytes."""
    return [
        Fact(fact.key, dict(sorted(fact.attributes.items())))
        for fact in sorted(facts, key=lambda fact: fact.key)
    ]


def account(user: object, host: object) -> str:
    """An account as people write it, `'app'@'10.%'`; a MariaDB role, which has no host, `'auditor'`."""
    quoted = quote(user)
    return f"{quoted}@{quote(host)}" if host not in ("", None) else quoted


def quote(name: object) -> str:
    """A name in single quotes, with quotes in it doubled."""
    return "'{}'".format(str(name).replace("'", "''"))


def text(value: object) -> str:
    """A value as text; NULL is empty."""
    return "" if value is None else str(value)


def is_yes(value: object) -> bool:
    """Whether one of the servers' many ways to say yes."""
    return str(value).lower() in ("y", "yes", "on", "1", "true", "enabled")


def yes_or_no(value: object) -> str:
    return "yes" if is_yes(value) else "no"


def rows_or_none(server: Server, statement: str) -> list[dict[str, object]]:
    """The rows; none where this version has no such table or column. Raises ServerError for all else."""
    try:
        return server.rows(statement)
    except ServerError as error:
        if error.status == "absent":
            return []
        raise
