"""Which data a column holds by a sample of its values.

Only forms with check digits, or with a syntax that other data do not have, are recognized. The check digits
are those of python-stdnum. Values never leave this module: the result contains numbers only.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from stdnum import iban, luhn
from stdnum.br import cpf
from stdnum.ch import ssn as ahv
from stdnum.de import idnr
from stdnum.es import nif
from stdnum.fr import nir
from stdnum.gb import nhs
from stdnum.in_ import aadhaar
from stdnum.it import codicefiscale
from stdnum.nl import bsn
from stdnum.pl import pesel
from stdnum.se import personnummer
from stdnum.us import ssn

FEWEST = 10
"""Distinct values that a statement about a column needs."""
SHARE = 0.9
"""9 of 10 random numbers with a check digit are valid with a probability below one in a hundred million."""
EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+")
PHONE = re.compile(r"\+[1-9][\d ()./-]{7,20}")
BCRYPT = re.compile(r"\$(2[abxy]|argon2id?|5|6|y|scrypt)\$.{20,}")
SSN_FORM = re.compile(r"\d{3}-\d{2}-\d{4}")
CARD = re.compile(r"[2-6]\d{12,18}")
SEPARATORS = str.maketrans("", "", " -")


@dataclass(frozen=True)
class Finding:
    """The kind of data of most values, with the numbers of distinct values tried and matching."""

    data_class: str
    kind: str
    tried: int
    matching: int


def finding(values: Iterable[object]) -> Finding | None:
    """Returns the kind that at least 90 % of at least 10 distinct values have; None if there is none."""
    distinct = {str(value).strip() for value in values if value not in (None, "")}
    distinct.discard("")
    if len(distinct) < FEWEST:
        return None
    best: Finding | None = None
    for data_class, kind, is_valid in RECOGNIZED:
        matching = sum(map(is_valid, distinct))
        if matching >= SHARE * len(distinct) and (best is None or matching > best.matching):
            best = Finding(data_class, kind, len(distinct), matching)
    return best


def _is_card(text: str) -> bool:
    digits = text.translate(SEPARATORS)
    return bool(CARD.fullmatch(digits)) and luhn.is_valid(digits)


def _is_ssn(text: str) -> bool:
    return bool(SSN_FORM.fullmatch(text)) and ssn.is_valid(text)


NATIONAL = {
    "Brazil": cpf,
    "France": nir,
    "Germany": idnr,
    "India": aadhaar,
    "Italy": codicefiscale,
    "Netherlands": bsn,
    "Poland": pesel,
    "Spain": nif,
    "Sweden": personnummer,
    "Switzerland": ahv,
    "United Kingdom, NHS": nhs,
}
RECOGNIZED: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("pci", "card number", _is_card),
    ("pii", "bank account", iban.is_valid),
    ("pii", "e-mail address", lambda text: bool(EMAIL.fullmatch(text))),
    ("pii", "phone number", lambda text: bool(PHONE.fullmatch(text))),
    ("secret", "password", lambda text: bool(BCRYPT.fullmatch(text))),
    ("pii", "national id (United States)", _is_ssn),
    *(("pii", f"national id ({country})", number.is_valid) for country, number in NATIONAL.items()),
)
