"""Reads address and credentials of a server from a MySQL option file. The puller has no others."""

import configparser
from pathlib import Path

from tailrace_capture.dsn import DEFAULT_PORT, Dsn, Password

GROUPS = ("client", "tailrace")
"""Later groups have precedence."""
TLS_OF_MODE = {
    "disabled": "off",
    "preferred": "preferred",
    "required": "required",
    "verify_ca": "verify-ca",
    "verify_identity": "verify",
}


class OptionFileError(ValueError):
    """The file cannot be used; the message names it and contains no secret."""


def read(file: Path, host: str = "") -> tuple[Dsn, Password]:
    """Returns the address and the password of the groups `client` and `tailrace`.

    `host` replaces host and socket of the file: `db-1` or `db-1:3306`. Raises OptionFileError.
    """
    options = _options(file)
    if host:
        options.pop("socket", None)
        options["host"], _, port = host.partition(":")
        options["port"] = port or options.get("port", str(DEFAULT_PORT))
    if "user" not in options:
        raise OptionFileError(f"{file}: expected `user` in the group [client] or [tailrace]")
    mode = options.get("ssl-mode", "preferred").lower()
    if mode not in TLS_OF_MODE:
        raise OptionFileError(f"{file}: ssl-mode must be one of {', '.join(TLS_OF_MODE)}, not {mode!r}")
    dsn = Dsn(
        options["user"],
        options.get("host", "127.0.0.1"),
        _port(file, options.get("port", str(DEFAULT_PORT))),
        options.get("socket", ""),
        TLS_OF_MODE[mode],
        options.get("ssl-ca", ""),
    )
    return dsn, Password(options.get("password", ""))


def _options(file: Path) -> dict[str, str]:
    parser = configparser.RawConfigParser(allow_no_value=True, strict=False, delimiters=("=",))
    parser.optionxform = lambda name: name.replace("_", "-")
    try:
        with file.open(encoding="utf-8") as lines:
            parser.read_file(line for line in lines if not line.startswith("!"))
    except OSError as error:
        raise OptionFileError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeError:
        raise OptionFileError(f"{file}: cannot be read: it is not UTF-8") from None
    except configparser.Error as error:  # its message may quote a line with the password
        raise OptionFileError(f"{file}: is no option file: {type(error).__name__}") from None
    found: dict[str, str] = {}
    for group in GROUPS:
        if parser.has_section(group):
            found |= {name: _unquoted(value or "") for name, value in parser.items(group)}
    return found


def _unquoted(value: str) -> str:
    value = value.strip()
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if is_quoted else value


def _port(file: Path, text: str) -> int:
    if not (text.isdecimal() and 0 < int(text) < 65536):
        raise OptionFileError(f"{file}: port must be a number from 1 to 65535, not {text!r}")
    return int(text)
