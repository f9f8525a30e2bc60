"""Where a server is and who asks: `mysql://user@host:port/?tls=required`. A password is never part of it."""

import getpass
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

DEFAULT_PORT = 3306
PASSWORD_VARIABLE = "TAILRACE_SERVER_PASSWORD"
TLS_MODES = ("off", "preferred", "required", "verify-ca", "verify")
INSISTING = ("required", "verify-ca", "verify")
"""Modes in which nothing is said without TLS."""
VERIFYING = ("verify-ca", "verify")
"""Modes in which the server's certificate is checked."""
OPTIONS = ("socket", "tls", "ca")


class DsnError(ValueError):
    """The address or the password cannot be used; the message says what was expected and repeats no
    secret."""


@dataclass(frozen=True)
class Dsn:
    """A server's address. With `socket` host and port are not used."""

    user: str
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    socket: str = ""
    tls: str = "preferred"
    """off; preferred: encrypted where the server can; required: encrypted or not at all, whoever it is;
    verify-ca: encrypted, and the certificate is one of `ca`'s, for whatever name, as MySQL's own are; verify:
    the certificate's name is checked as well."""
    ca: str = ""
    """File of the authority that signed the server's certificate; empty: the system's own."""

    @property
    def where(self) -> str:
        """The address without the user, for messages."""
        return self.socket or f"{self.host}:{self.port}"


def parse(text: str) -> Dsn:
    """Reads `mysql://user@host[:port]/[?socket=/path][&tls=off|preferred|required|verify-ca|verify]
    [&ca=/path]`.

    Raises DsnError; a password in it is refused, because command lines and configuration are read by others.
    """
    try:
        url = urlsplit(text)
        port = url.port or DEFAULT_PORT
    except ValueError:
        raise DsnError("the port of the address is not a number from 1 to 65535") from None
    if url.scheme not in ("mysql", "mariadb"):
        raise DsnError("expected an address such as mysql://tailrace@db-1:3306/")
    if url.password is not None:
        raise DsnError("a password does not belong into the address: give it by a file or by the environment")
    if not url.username:
        raise DsnError("the address names no user: mysql://tailrace@db-1:3306/")
    options = _options(url.query)
    return Dsn(unquote(url.username), url.hostname or "127.0.0.1", port, **options)


def _options(query: str) -> dict[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    for name in options:
        if name not in OPTIONS:
            raise DsnError(f"unknown option {name!r} in the address; known are {', '.join(OPTIONS)}")
    if options.get("tls", "preferred") not in TLS_MODES:
        raise DsnError(f"tls must be one of {', '.join(TLS_MODES)}, not {options['tls']!r}")
    return options


@dataclass(frozen=True)
class Password:
    """A secret that no repr shows."""

    text: str = field(repr=False)


def password_of(file: Path | None, ask: bool = False) -> Password:
    """From the file (without its last line end), else from TAILRACE_SERVER_PASSWORD, else, if `ask` and
    there is a terminal, from a prompt, else none. Raises DsnError if the file cannot be read."""
    if file is not None:
        try:
            return Password(file.read_text().rstrip("\r\n"))
        except (OSError, UnicodeError) as error:
            raise DsnError(f"the password file {file} cannot be read: {error}") from None
    if PASSWORD_VARIABLE in os.environ:
        return Password(os.environ[PASSWORD_VARIABLE])
    if ask and sys.stdin.isatty():
        return Password(getpass.getpass("password: "))
    return Password("")
