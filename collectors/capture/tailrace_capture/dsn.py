"""Parses a server's address and user: `mysql://user@host:port/?tls=required`. It never contains a
password."""

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
"""Modes that require TLS."""
VERIFYING = ("verify-ca", "verify")
"""Modes that verify the server's certificate."""
OPTIONS = ("socket", "tls", "ca")


class DsnError(ValueError):
    """The address or the password is invalid; the message states what was expected and contains no secret."""


@dataclass(frozen=True)
class Dsn:
    """A server's address. With `socket`, host and port are ignored."""

    user: str
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    socket: str = ""
    tls: str = "preferred"
    """off; preferred: encrypted if the server supports it; required: encrypted, without verification;
    verify-ca: encrypted, and the certificate is signed by `ca`, for any name, as MySQL's generated ones;
    verify: also the certificate's name must match."""
    ca: str = ""
    """File of the authority that signed the server's certificate; empty: the authorities of the system."""

    @property
    def where(self) -> str:
        """Returns the address without the user, for messages."""
        return self.socket or f"{self.host}:{self.port}"


def parse(text: str) -> Dsn:
    """Parses `mysql://user@host[:port]/[?socket=/path][&tls=off|preferred|required|verify-ca|verify]
    [&ca=/path]`.

    Raises DsnError. A password in it is refused, because others can read command lines and configuration.
    """
    try:
        url = urlsplit(text)
        port = url.port or DEFAULT_PORT
    except ValueError:
        raise DsnError("the port of the address is not a number from 1 to 65535") from None
    if url.scheme not in ("mysql", "mariadb"):
        raise DsnError("expected an address such as mysql://tailrace@db-1:3306/")
    if url.password is not None:
        raise DsnError("the address must not contain a password: use a file or the environment")
    if not url.username:
        raise DsnError("the address has no user: mysql://tailrace@db-1:3306/")
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
    """A secret that its repr does not show."""

    text: str = field(repr=False)


def password_of(file: Path | None, ask: bool = False) -> Password:
    """Reads a password from the file (without its last line end), else from TAILRACE_SERVER_PASSWORD, else,
    with `ask` and a terminal, from a prompt, else returns none. Raises DsnError if the file cannot be
    read."""
    if file is not None:
        try:
            return Password(file.read_text().rstrip("\r\n"))
        except OSError as error:
            raise DsnError(f"the password file {file} cannot be read: {error.strerror}") from None
        except UnicodeError:
            raise DsnError(f"the password file {file} is not UTF-8") from None
    if PASSWORD_VARIABLE in os.environ:
        return Password(os.environ[PASSWORD_VARIABLE])
    if ask and sys.stdin.isatty():
        return Password(getpass.getpass("password: "))
    return Password("")
