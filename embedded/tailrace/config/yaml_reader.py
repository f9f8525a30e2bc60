"""Reads YAML files that users write. Any mistake is an error with its place; no file is applied in part."""

import difflib
import ipaddress
import re
import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tailrace.config import renamed
from tailrace.config.renamed import BothGivenError, Table
from tailrace.errors import UsageError

_SPAN = re.compile(r"(\d+)(s|m|h|d)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_MAX_SECONDS = 90 * 86_400
MAX_VALUES = 100_000
"""Of a file. A few nested aliases represent more values than fit into memory."""


class ConfigurationError(UsageError, ValueError):
    """A file is invalid; the message contains file, place and key, and what was expected."""


def read(file: Path, old_names: Table | None = None) -> "Section":
    """Returns the keys of a file, of which some have old names. Raises ConfigurationError."""
    try:
        content = yaml.load(file.read_text(), _LineLoader)
        size = _expanded_size(content, {})
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f"{file}: cannot be read: {error}") from error
    except RecursionError:
        raise ConfigurationError(f"{file}: cannot be read: its values are nested too deeply") from None
    if size > MAX_VALUES:
        raise ConfigurationError(f"{file}: has more than {MAX_VALUES:,} values when its aliases are replaced")
    return Section(content, str(file), file.parent, old_names)


def _expanded_size(value: object, known: dict[int, int]) -> int:
    """Returns the number of values, where each alias counts as often as it is used.

    `known` has the sizes by identity, so that the time does not grow with the size. A value that contains
    itself counts more than MAX_VALUES.
    """
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = MAX_VALUES + 1  # found again only by a value that contains itself
        parts = [*value, *value.values()] if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_expanded_size(part, known) for part in parts)
    return known[id(value)]


class _Keys(dict):
    """Keys and values."""

    lines: Mapping[object, int]
    """The line of each key, from 1."""


class _LineLoader(yaml.SafeLoader):
    """Reads keys and values with their lines."""


def _construct_keys(loader: yaml.SafeLoader, node: yaml.MappingNode) -> _Keys:
    keys = _Keys(loader.construct_mapping(node, deep=True))
    scalars = (key for key, _ in node.value if isinstance(key, yaml.ScalarNode))
    keys.lines = {key.value: key.start_mark.line + 1 for key in scalars}
    return keys


_LineLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _construct_keys)


class Section:
    """Keys and values. Reading a key makes it known; `close` reports the others as errors.

    Reading a key that the file contains under its old name prints a warning.
    """

    def __init__(self, content: object, where: str, directory: Path, old_names: Table | None = None) -> None:
        if not isinstance(content, dict):
            raise ConfigurationError(f"{where}: expected keys and values, found {type(content).__name__}")
        self.where = where
        self._content = content
        self._directory = directory
        self._old_names = old_names or {}
        self._known: list[str] = []

    def take(self, key: str, reader: Callable[[object], Any], default: Any) -> Any:
        """Returns the value of an optional key."""
        self._known.append(key)
        key = self._in_file(key)
        if key not in self._content:
            return default
        try:
            return reader(self._content[key])
        except ValueError as error:
            raise self.mistake(f"`{key}` must be {error}", key) from None

    def mistake(self, text: str, key: object = None) -> ConfigurationError:
        """Returns an error with the line of a key, or of the section if it does not have the key."""
        lines = getattr(self._content, "lines", {})
        line = lines.get(key) or min(lines.values(), default=0)
        return ConfigurationError(f"{self.where}: {text}{f' (line {line})' if line else ''}")

    def _in_file(self, key: str) -> str:
        """Returns the name of a key in the file.

        Raises ConfigurationError if the file contains the old and the new name.
        """
        for old, new in self._old_names.items():
            if new.name == key and old in self._content:
                self._known.append(old)
                try:
                    renamed.new_name(old, self._content, self._old_names, self._warn)
                except BothGivenError as error:
                    raise ConfigurationError(f"{self.where}: {error}") from None
                return old
        return key

    def _warn(self, warning: str) -> None:
        renamed.to_stderr(f"{self.where}: {warning}")

    def need(self, key: str, reader: Callable[[object], Any]) -> Any:
        """Returns the value of a required key."""
        value = self.take(key, reader, None)
        if value is None:
            near = difflib.get_close_matches(key, map(str, self._content), n=1)
            hint = f"; is it meant by {near[0]!r}?" if near and near[0] not in self._known else ""
            raise self.mistake(f"`{key}` is missing{hint}")
        return value

    def file(self, key: str, needed: bool = False) -> Path | None:
        """Returns the path of an existing file that is not empty."""
        written = self.need(key, text) if needed else self.take(key, text, "")
        if not written:
            return None
        path = self._directory / Path(written).expanduser()
        try:
            if not path.read_text().strip():
                raise self.mistake(f"`{key}`: {path} is empty", key)
        except (OSError, UnicodeDecodeError) as error:
            raise self.mistake(f"`{key}`: {error}", key) from None
        return path

    def inner(self, key: str) -> "Section":
        """Returns the section of a required key."""
        return Section(self.need(key, section), f"{self.where}: {key}", self._directory, self._old_names)

    def require_encryption(self, key: str, url: str, secret: str) -> None:
        """Raises ConfigurationError if a secret, such as `password`, is not safe on the way to the URL."""
        if not keeps_secrets(url):
            raise self.mistake(
                f"`{key}` must begin with https://, or the {secret} would travel unencrypted", key
            )

    def peek(self, key: str, default: object) -> object:
        """Returns the value of a key that another reader takes."""
        return self._content.get(key, default)

    def has(self, key: str) -> bool:
        """Returns whether the file contains the key."""
        return key in self._content

    def each(self, key: str, called: str) -> list["Section"]:
        """Returns the sections of a required list; messages call the first one `called 1`."""
        return [
            Section(one, f"{self.where}: {called} {number_}", self._directory, self._old_names)
            for number_, one in enumerate(self.need(key, listed), 1)
        ]

    def close(self) -> None:
        """Raises ConfigurationError for a key that was not read."""
        for key in self._content:
            if key not in self._known:
                (nearest,) = difflib.get_close_matches(str(key), self._known, n=1, cutoff=0)
                raise self.mistake(f"unknown key {key!r}; the nearest known one is {nearest!r}", key)


# --- readers: each returns the value, or raises ValueError with the expected form
# -----------------------------


def text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"text, not {value!r}")
    return value


def matching(pattern: re.Pattern[str], expected: str) -> Callable[[object], str]:
    """Returns a reader of texts of a form; `expected` describes it."""

    def reader(value: object) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ValueError(f"{expected}, not {value!r}")
        return value

    return reader


name = matching(re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"), "letters, digits and `_.-`, at most 64")


def one_of(*names: str) -> Callable[[object], str]:
    def reader(value: object) -> str:
        if value not in names:
            raise ValueError(f"one of {', '.join(names)}, not {value!r}")
        return str(value)

    return reader


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"true or false, not {value!r}")
    return value


def number(minimum: int, maximum: int) -> Callable[[object], int]:
    def reader(value: object) -> int:
        if type(value) is not int or not minimum <= value <= maximum:
            raise ValueError(f"a number from {minimum} to {maximum}, not {value!r}")
        return value

    return reader


def span(value: object) -> int:
    found = _SPAN.fullmatch(value) if isinstance(value, str) else None
    seconds = int(found[1]) * _SECONDS[found[2]] if found else 0
    if not 1 <= seconds <= _MAX_SECONDS:
        raise ValueError(f"a span such as 30s, 15m, 2h or 1d, at most 90d, not {value!r}")
    return seconds


def texts(value: object) -> list[str]:
    if not isinstance(value, list):
        raise ValueError(f"a list, not {value!r}")
    return [text(each) for each in value]


def section(value: object) -> object:
    """Keys and values, for Section.inner."""
    if not isinstance(value, dict):
        raise ValueError(f"keys and values, not {value!r}")
    return value


def listed(value: object) -> list[object]:
    """Reads a list that is not empty, for Section.each."""
    if not isinstance(value, list) or not value:
        raise ValueError(f"a list, not {value!r}")
    return value


def address(value: object) -> str:
    name, at, domain = str(value).partition("@")
    if not (name and at and domain) or any(sign.isspace() or sign in "<>," for sign in str(value)):
        raise ValueError(f"an address such as soc@example.com, not {value!r}")
    return str(value)


def addresses(value: object) -> list[str]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"a list of addresses, not {value!r}")
    return [address(each) for each in value]


def keeps_secrets(url: str) -> bool:
    """Returns whether a secret is safe on the way to the URL: it is encrypted, or stays on this machine."""
    parsed = urllib.parse.urlsplit(url)
    if parsed.scheme == "https" or parsed.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parsed.hostname or "").is_loopback
    except ValueError:
        return False


def url(value: object) -> str:
    parsed = urllib.parse.urlsplit(value if isinstance(value, str) else "")
    if parsed.scheme not in ("http", "https") or not parsed.hostname:
        raise ValueError(f"an address that begins with https:// or http://, not {value!r}")
    if parsed.username or parsed.password:
        raise ValueError("an address without user and password: store secrets in separate files")
    return str(value)
