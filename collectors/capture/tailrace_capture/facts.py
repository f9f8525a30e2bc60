"""Facts of a server: a key with attributes, as names and texts."""

from dataclasses import dataclass

from tailrace_capture.server import Server, ServerError


@dataclass(frozen=True)
class Fact:
    """One item of one kind. `key` is unique within its kind and the same in every snapshot."""

    key: str
    attributes: dict[str, str]


def in_order(facts: list[Fact]) -> list[Fact]:
    """Sorts by key, and attributes by name: equal facts give equal bytes."""
    return [
        Fact(fact.key, dict(sorted(fact.attributes.items())))
        for fact in sorted(facts, key=lambda fact: fact.key)
    ]


def text(value: object) -> str:
    """Converts a value to text; NULL is empty."""
    return "" if value is None else str(value)


def is_yes(value: object) -> bool:
    """Returns whether a value is one of the servers' notations of true."""
    return str(value).lower() in ("y", "yes", "on", "1", "true", "enabled")


def yes_or_no(value: object) -> str:
    return "yes" if is_yes(value) else "no"


def rows_or_none(server: Server, statement: str) -> list[dict[str, object]]:
    """Returns the rows; none if this version lacks the table or a column. Raises ServerError otherwise."""
    try:
        return server.rows(statement)
    except ServerError as error:
        if error.status == "absent":
            return []
        raise
