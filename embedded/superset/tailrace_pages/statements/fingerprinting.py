"""The fingerprint of a pasted statement, computed by the fingerprint service (tailrace.fingerprint).

SUPERSET_FINGERPRINT_SOCKET    its Unix socket; without it the page says that it cannot find pasted SQL
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tailrace.fingerprint.client import Fingerprint, FingerprintService, NoServiceError, RefusedError

SOCKET = "SUPERSET_FINGERPRINT_SOCKET"
NOT_HERE = "This installation has no fingerprint service, which finds pasted statements."
NOT_RUNNING = "The fingerprint service, which finds pasted statements, does not answer."
_STARTS = (
    *("select", "insert", "update", "delete", "replace", "with", "call", "set", "show", "create", "alter"),
    *("drop", "grant", "revoke", "truncate", "rename", "explain", "describe", "desc", "analyze", "load"),
    *("lock", "use", "do", "begin", "commit", "rollback", "start", "savepoint", "prepare", "execute"),
    *(
        "flush",
        "kill",
        "values",
        "handler",
        "table",
        "optimize",
        "check",
        "change",
        "reset",
        "purge",
        "clone",
    ),
    "administrator",
)
_STATEMENT = re.compile(
    r"(?> [\s(]++ | /\*!9{5}.*?\*/ | /\*[mM]?!\d*+ | /\*.*?\*/ | --(?:[^\S\n][^\n]*+)?\n | \#[^\n]*+\n )*+"
    rf"(?:{'|'.join(_STARTS)})\b\s*+\S",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
"""The beginning of a statement: comments and parentheses, its first word and something else."""
_PLACEHOLDER = re.compile(r"(?<![\w$@:%`]):[A-Za-z_]\w*|%\(\w+\)s|(?<!\w)%s\b|(?<![\w$@])\$\d+|\.\.\.")
"""Placeholders of drivers and frameworks, which servers never see, and those of the server's digest texts."""

_MASKED_DIGITS = re.compile(r"(?<=[\w$])\?")
"""`?` at the end or inside of a name, as fingerprints write digits; a server would not read it as a name."""


@dataclass(frozen=True)
class Pasted:
    """What the service answered about a pasted statement."""

    fingerprint: Fingerprint | None = None
    texts: tuple[str, ...] = ()
    """Its fingerprint, and the one with `?` in place of other placeholders."""
    link: str = ""
    """A search text without literals that finds the same statement; empty if there is none."""
    problem: str = ""
    """Why there is no fingerprint, as a sentence."""


def is_statement(text: str) -> bool:
    """Returns whether it begins like a statement, and not like a table name or a few words of one."""
    return _STATEMENT.match(text) is not None


def pasted(statement: str, environment: Mapping[str, str] = os.environ) -> Pasted:
    """Asks for the fingerprint of a statement."""
    if not environment.get(SOCKET):
        return Pasted(problem=NOT_HERE)
    service = FingerprintService(Path(environment[SOCKET]))
    try:
        return _answered(service, statement)
    except NoServiceError:
        return Pasted(problem=NOT_RUNNING)
    except RefusedError as error:
        return Pasted(problem=f"The statement was not searched: {error}.")


def _answered(service: FingerprintService, statement: str) -> Pasted:
    found = service.fingerprint(statement)
    if (digits := _MASKED_DIGITS.sub("0", statement)) != statement:
        named = service.fingerprint(digits)
        found = replace(found, verb=named.verb, reads=named.reads, writes=named.writes)
    is_link = is_statement(found.text) and service.fingerprint(found.text).query_id == found.query_id
    texts = [found.text]
    if (bound := _PLACEHOLDER.sub("?", statement)) != statement:
        texts.append(service.fingerprint(bound).text)
    return Pasted(found, tuple(texts), found.text if is_link else "")
