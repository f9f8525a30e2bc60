"""alerts.yaml: who is told of which alerts, and how. Read strictly: an unknown key is an error.

    dashboards: https://tailrace.example.com      # what comes before an alert's link
    channels:
      - name: siem
        kind: webhook
        url: https://siem.example.com/hooks/tailrace
        secret_file: siem.secret                  # signs what is sent; a path relative to this file
        min_level: medium
      - name: night-shift
        kind: email
        host: mail.example.com
        from: tailrace@example.com
        to: [soc@example.com]
        user: tailrace
        password_file: mail.password
        min_level: high

Secrets are in files of their own, never in this one; they are read again for every attempt.
"""

import difflib
import ipaddress
import re
import urllib.parse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tailrace.alerts import LEVELS

_SPAN = re.compile(r"(\d+)(s|m|h|d)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_MOST_SECONDS = 90 * 86_400
SECURITY_PORTS = {"starttls": 587, "tls": 465, "none": 25}


class DeliveryConfigError(ValueError):
    """The file cannot be used; the message names file, channel and key, and what was expected."""


@dataclass(frozen=True)
class Selection:
    """Which alerts a channel is told of, and how often. Times in seconds."""

    min_level: str = "medium"
    rules: Sequence[str] = ()
    """Ids or titles of rules; none: all."""
    repeat: int = 3600
    """The least time between two tellings of one alert that comes to stand for more."""
    first_retry: int = 5
    longest_retry: int = 900
    give_up: int = 86_400
    """An alert that could not be told for so long is given up, and written down as such."""

    @property
    def levels(self) -> Sequence[str]:
        return LEVELS[LEVELS.index(self.min_level) :]


@dataclass(frozen=True)
class Webhook:
    """Where JSON is posted to. `timeout` in seconds, for connecting and for each answer."""

    name: str
    selection: Selection
    url: str
    secret_file: Path
    token_file: Path | None = None
    """A bearer token for the receiver, which many ask for beside the signature."""
    ca_file: Path | None = None
    timeout: int = 10


@dataclass(frozen=True)
class Email:
    """Where mail goes. `timeout` in seconds."""

    name: str
    selection: Selection
    host: str
    port: int
    security: str
    sender: str
    to: Sequence[str]
    user: str = ""
    password_file: Path | None = None
    ca_file: Path | None = None
    at_most_per_hour: int = 30
    """Beyond these, what is due goes into one summary every ten minutes."""
    timeout: int = 20


Channel = Webhook | Email


@dataclass(frozen=True)
class DeliveryConfig:
    """The whole file."""

    dashboards: str
    """Address of the dashboards' server without path; empty: the one of this installation."""
    channels: Sequence[Channel]


def load(file: Path) -> DeliveryConfig:
    """The file's content, checked. Raises DeliveryConfigError."""
    try:
        content = yaml.safe_load(file.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise DeliveryConfigError(f"{file}: cannot be read: {error}") from error
    top = _Section(content, str(file), file.parent)
    dashboards = top.take("dashboards", _url, "").rstrip("/")
    listed = top.need("channels", _maps)
    top.close()
    sections = [_Section(each, f"{file}: channel {n}", file.parent) for n, each in enumerate(listed, 1)]
    channels = [_channel(section) for section in sections]
    names = [channel.name for channel in channels]
    for name in names:
        if names.count(name) > 1:
            raise DeliveryConfigError(f"{file}: two channels are called {name}")
    return DeliveryConfig(dashboards, channels)


class _Section:
    """Keys and values; every key that is asked for is known, and what nobody asks for is an error."""

    def __init__(self, content: object, where: str, directory: Path) -> None:
        if not isinstance(content, dict):
            raise DeliveryConfigError(f"{where}: expected keys and values, found {type(content).__name__}")
        self.where = where
        self._content = content
        self._directory = directory
        self._known: list[str] = []

    def take(self, key: str, read: Callable[[object], Any], default: Any) -> Any:
        """The value of a key that may be left out."""
        self._known.append(key)
        if key not in self._content:
            return default
        try:
            return read(self._content[key])
        except ValueError as error:
            raise DeliveryConfigError(f"{self.where}: `{key}` must be {error}") from None

    def need(self, key: str, read: Callable[[object], Any]) -> Any:
        """The value of a key that must be there."""
        value = self.take(key, read, None)
        if value is None:
            near = difflib.get_close_matches(key, map(str, self._content), n=1)
            hint = f"; is it meant by {near[0]!r}?" if near and near[0] not in self._known else ""
            raise DeliveryConfigError(f"{self.where}: `{key}` is missing{hint}")
        return value

    def file(self, key: str, needed: bool = False) -> Path | None:
        """The path of a file that is there and not empty."""
        text = self.need(key, _text) if needed else self.take(key, _text, "")
        if not text:
            return None
        path = self._directory / Path(text).expanduser()
        try:
            if not path.read_text().strip():
                raise DeliveryConfigError(f"{self.where}: `{key}`: {path} is empty")
        except (OSError, UnicodeDecodeError) as error:
            raise DeliveryConfigError(f"{self.where}: `{key}`: {error}") from None
        return path

    def close(self) -> None:
        """Raises DeliveryConfigError for a key that nobody has asked for."""
        for key in self._content:
            if key not in self._known:
                (nearest,) = difflib.get_close_matches(str(key), self._known, n=1, cutoff=0)
                unknown = f"unknown key {key!r}; the nearest known one is {nearest!r}"
                raise DeliveryConfigError(f"{self.where}: {unknown}")


def _channel(section: _Section) -> Channel:
    kind = section.need("kind", _one_of(*KINDS))
    channel = KINDS[kind](section)
    section.close()
    return channel


def _selection(section: _Section) -> Selection:
    given = Selection()
    return Selection(
        min_level=section.take("min_level", _one_of(*LEVELS), given.min_level),
        rules=section.take("rules", _texts, given.rules),
        repeat=section.take("repeat", _span, given.repeat),
        first_retry=section.take("first_retry", _span, given.first_retry),
        longest_retry=section.take("longest_retry", _span, given.longest_retry),
        give_up=section.take("give_up", _span, given.give_up),
    )


def _webhook(section: _Section) -> Webhook:
    url, token_file = section.need("url", _url), section.file("token_file")
    if token_file and not _keeps_secrets(url):
        raise DeliveryConfigError(
            f"{section.where}: `token_file` needs a `url` that begins with https://, "
            "or anybody on the way could read the token"
        )
    return Webhook(
        name=section.need("name", _name),
        selection=_selection(section),
        url=url,
        secret_file=section.file("secret_file", needed=True),
        token_file=token_file,
        ca_file=section.file("ca_file"),
        timeout=section.take("timeout", _span, 10),
    )


def _email(section: _Section) -> Email:
    security = section.take("security", _one_of(*SECURITY_PORTS), "starttls")
    user, password_file = section.take("user", _text, ""), section.file("password_file")
    if bool(user) != bool(password_file):
        raise DeliveryConfigError(f"{section.where}: `user` and `password_file` go together")
    if user and security == "none":
        raise DeliveryConfigError(f"{section.where}: a password needs `security: starttls` or `tls`")
    return Email(
        name=section.need("name", _name),
        selection=_selection(section),
        host=section.need("host", _text),
        port=section.take("port", _number(1, 65_535), SECURITY_PORTS[security]),
        security=security,
        sender=section.need("from", _address),
        to=section.need("to", _addresses),
        user=user,
        password_file=password_file,
        ca_file=section.file("ca_file"),
        at_most_per_hour=section.take("at_most_per_hour", _number(1, 10_000), 30),
        timeout=section.take("timeout", _span, 20),
    )


KINDS = {"webhook": _webhook, "email": _email}


# --- values: each returns what it read, or raises ValueError with what it should have been ------------------


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"text, not {value!r}")
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError(f"letters, digits and `_.-`, at most 64, not {value!r}")
    return value


def _one_of(*names: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in names:
            raise ValueError(f"one of {', '.join(names)}, not {value!r}")
        return str(value)

    return read


def _number(least: int, most: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f"a number from {least} to {most}, not {value!r}")
        return value

    return read


def _span(value: object) -> int:
    found = _SPAN.fullmatch(value) if isinstance(value, str) else None
    seconds = int(found[1]) * _SECONDS[found[2]] if found else 0
    if not 1 <= seconds <= _MOST_SECONDS:
        raise ValueError(f"a span such as 30s, 15m, 2h or 1d, at most 90d, not {value!r}")
    return seconds


def _texts(value: object) -> list[str]:
    if not isinstance(value, list):
        raise ValueError(f"a list, not {value!r}")
    return [_text(each) for each in value]


def _maps(value: object) -> list[object]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"a list of channels, not {value!r}")
    return value


def _address(value: object) -> str:
    name, at, domain = str(value).partition("@")
    if not (name and at and domain) or any(sign.isspace() or sign in "<>," for sign in str(value)):
        raise ValueError(f"an address such as soc@example.com, not {value!r}")
    return str(value)


def _addresses(value: object) -> list[str]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"a list of addresses, not {value!r}")
    return [_address(each) for each in value]


def _keeps_secrets(url: str) -> bool:
    """Whether nobody on the way can read what is sent: it is encrypted, or stays on this machine."""
    parsed = urllib.parse.urlsplit(url)
    if parsed.scheme == "https" or parsed.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parsed.hostname or "").is_loopback
    except ValueError:
        return False


def _url(value: object) -> str:
    parsed = urllib.parse.urlsplit(value if isinstance(value, str) else "")
    if parsed.scheme not in ("http", "https") or not parsed.hostname:
        raise ValueError(f"an address that begins with https:// or http://, not {value!r}")
    if parsed.username or parsed.password:
        raise ValueError("an address without user and password: secrets are in files of their own")
    return str(value)
