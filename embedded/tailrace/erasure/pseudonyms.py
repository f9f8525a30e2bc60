"""Derives pseudonyms of names, as io.tailrace.pseudonym does: schemas/contracts/pseudonym.json."""

import hashlib
import hmac
import ipaddress
import re
from dataclasses import dataclass, field

from tailrace.errors import ReportedError

USER, CLIENT = "user", "client"
KINDS = (USER, CLIENT)
KEY_BYTES = 32

_FORM = re.compile(r"p1-(user|client)-[0-9a-f]{32}")
_CONTEXT = "tailrace-pseudonym-v1\n"
_DIGITS = 32
_IN_CLEAR = ("localhost", "::1")
_LOOPBACK = re.compile(r"127\.[0-9.]*")
_LOWER = str.maketrans({chr(code): chr(code + 32) for code in range(ord("A"), ord("Z") + 1)})


class SubjectError(ReportedError):
    """The text names no subject, or nothing can be done with it; the message is shown to the user."""


@dataclass(frozen=True)
class Pseudonyms:
    """The user who has the key can compute the pseudonym of any name, and so find a name by trying names."""

    key: bytes = field(repr=False)
    """At least KEY_BYTES."""

    def of(self, kind: str, name: str) -> str:
        """Returns the pseudonym of a name of one of KINDS, or the name if rows contain it in clear."""
        plain = _plain(kind, name)
        if is_clear(kind, plain):
            return name
        message = f"{_CONTEXT}{kind}\n{plain}".encode()
        digest = hmac.new(self.key, message, hashlib.sha256).hexdigest()
        return f"p1-{kind}-{digest[:_DIGITS]}"


@dataclass(frozen=True)
class Subject:
    """A user or client of which rows contain the pseudonym."""

    kind: str
    pseudonym: str
    name: str = ""
    """Empty if only the pseudonym is known."""


def is_clear(kind: str, name: str) -> bool:
    """Whether a name has no pseudonym: the empty name, and clients on the server itself."""
    plain = _plain(kind, name)
    return not plain or (kind == CLIENT and (plain in _IN_CLEAR or bool(_LOOPBACK.fullmatch(plain))))


def is_pseudonym(text: str) -> bool:
    return bool(_FORM.fullmatch(text))


def of_pseudonym(text: str) -> Subject:
    """Returns the subject of a pseudonym, without its name."""
    return Subject(text.split("-")[1], text)


def subject(text: str, pseudonyms: Pseudonyms) -> Subject:
    """Parses `user:etl`, `client:10.0.0.9`, or a pseudonym. Raises SubjectError."""
    if is_pseudonym(text):
        return of_pseudonym(text)
    kind, colon, name = text.partition(":")
    if not colon or kind not in KINDS or not name:
        raise SubjectError(f"expected user:NAME, client:ADDRESS or a pseudonym, found {text!r}")
    name = _address(name) if kind == CLIENT else name
    if is_clear(kind, name):
        raise SubjectError(f"{text} has no pseudonym: it is no client of a network")
    return Subject(kind, pseudonyms.of(kind, name), name)


def _plain(kind: str, name: str) -> str:
    """Converts ASCII letters only: languages differ in the others."""
    return name.translate(_LOWER) if kind == CLIENT else name


def _address(name: str) -> str:
    """Returns an address as parsers write it, and a host name unchanged."""
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
