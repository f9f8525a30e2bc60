"""Which data a column holds by its name. Pure: the names are data in names.yaml."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

NAMES = Path(__file__).with_name("names.yaml")
BESIDE = "beside"
TEXT, NUMBER, DATE = "text", "number", "date"
TYPES = {
    **dict.fromkeys(
        ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "json", "enum", "set"), TEXT
    ),
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), TEXT),
    **dict.fromkeys(("inet4", "inet6", "uuid"), TEXT),
    **dict.fromkeys(
        ("tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double"), NUMBER
    ),
    **dict.fromkeys(("point", "geometry"), NUMBER),
    **dict.fromkeys(("date", "datetime", "timestamp", "year"), DATE),
}
"""Groups of the types of information_schema.COLUMNS.DATA_TYPE of MySQL 5.7 to 8.4 and MariaDB."""
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True)
class Column:
    """A column as information_schema describes it; `type` is DATA_TYPE."""

    database: str
    table: str
    name: str
    type: str

    @property
    def group(self) -> str:
        """Returns text, number or date; empty for other types."""
        return TYPES.get(self.type.lower(), "")


@dataclass(frozen=True)
class Kind:
    """A kind of data, such as a card number."""

    data_class: str
    name: str
    words: tuple[tuple[str, ...], ...]
    types: frozenset[str]
    tables: frozenset[str]

    def matches(self, column: Column, beside: frozenset[str]) -> bool:
        if column.group not in self.types:
            return False
        if self.tables and not self.tables.intersection(words_of(column.table)):
            return False
        found = words_of(column.name)
        return any(_contains(found, sequence, beside) for sequence in self.words)


def kinds_of(column: Column) -> list[Kind]:
    """Returns the kinds that the name suggests, at most one for each class."""
    kinds, beside = _known()
    found: dict[str, Kind] = {}
    for kind in kinds:
        if kind.data_class not in found and kind.matches(column, beside):
            found[kind.data_class] = kind
    return list(found.values())


def words_of(name: str) -> tuple[str, ...]:
    """Returns the words of `card_number`, `cardNumber` or `CARD-NUMBER`, in lower case; `address1` is one."""
    words = [word.lower() for word in WORD.findall(name)]
    joined: list[str] = []
    for word in words:
        if word.isdigit() and joined:
            joined[-1] += word
        else:
            joined.append(word)
    return tuple(joined)


def _contains(found: tuple[str, ...], sequence: tuple[str, ...], beside: frozenset[str]) -> bool:
    """Returns whether the words contain the sequence, in one word or in several, and no word of `beside`."""
    for start in range(len(found)):
        for length in {1, len(sequence)}:
            part = found[start : start + length]
            if "".join(part).rstrip("0123456789") in _spellings(sequence) or part == sequence:
                others = {word.rstrip("0123456789") for word in found[:start] + found[start + length :]}
                if not others & beside:
                    return True
    return False


def _spellings(sequence: tuple[str, ...]) -> tuple[str, ...]:
    return "".join(sequence), "".join(sequence) + "s"


@cache
def _known() -> tuple[tuple[Kind, ...], frozenset[str]]:
    document = yaml.safe_load(NAMES.read_text())
    beside = frozenset(document.pop(BESIDE))
    kinds = tuple(
        Kind(
            data_class,
            name,
            tuple(tuple(words.split()) for words in entry["words"]),
            frozenset(entry.get("types", (TEXT,))),
            frozenset(entry.get("tables", ())),
        )
        for data_class, of_class in document.items()
        for name, entry in of_class.items()
    )
    return kinds, beside
