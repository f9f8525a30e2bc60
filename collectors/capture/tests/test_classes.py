"""Proposals of data classes: names and values that suggest one, and those that do not."""

from random import Random

import pytest
from stdnum import luhn
from stdnum.de import idnr
from stdnum.iban import calc_check_digits

from tailrace_capture.classes import patterns
from tailrace_capture.classes.names import Column, kinds_of, words_of
from tailrace_capture.classes.patterns import DataClasses
from tailrace_capture.classes.proposals import COVERED, EXCLUDED, NEW, propose
from tailrace_capture.classes.values import FEWEST, Finding, finding
from tailrace_capture.server import ServerError


def classes(name: str, kind: str = "varchar", table: str = "t") -> dict[str, str]:
    return {kind.data_class: kind.name for kind in kinds_of(Column("shop", table, name, kind))}


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("email", "varchar", {"pii": "e-mail address"}),
        ("customerEmailAddress", "text", {"pii": "e-mail address"}),
        ("user_email2", "varchar", {"pii": "e-mail address"}),
        ("cardNumber", "bigint", {"pci": "card number"}),
        ("cc_number", "varchar", {"pci": "card number"}),
        ("CVV", "smallint", {"pci": "card verification code"}),
        ("first_name", "varchar", {"pii": "person's name"}),
        ("nachname", "varchar", {"pii": "person's name"}),
        ("dateOfBirth", "date", {"pii": "date of birth"}),
        ("PASSWORD_HASH", "varbinary", {"secret": "password"}),
        ("stripe_api_key", "varchar", {"secret": "key or token"}),
        ("icd10_code", "char", {"health": "health data"}),
        ("card_id", "bigint", {}),
        ("email_verified_at", "timestamp", {}),
        ("email_verified", "varchar", {}),
        ("password_policy", "varchar", {}),
        ("password_changed", "varchar", {}),
        ("email_count", "int", {}),
        ("phone_type", "enum", {}),
        ("company", "varchar", {}),
        ("panel", "varchar", {}),
        ("expand", "varchar", {}),
        ("zipfile", "varchar", {}),
        ("name", "varchar", {}),
    ],
)
def test_names(name, kind, expected):
    assert classes(name, kind) == expected


def test_a_name_in_a_table_of_persons_is_one():
    assert classes("name", table="shop_customers") == {"pii": "name in a table of persons"}
    assert classes("name", table="products") == {}


def test_words_of_any_spelling_are_the_same():
    assert words_of("card_number") == words_of("cardNumber") == words_of("CARD-NUMBER") == ("card", "number")
    assert words_of("address1") == ("address1",)
    assert words_of("HTTPStatus") == ("http", "status")


def numbers(digits: int, count: int = 50, seed: int = 3) -> list[str]:
    random = Random(seed)
    return [str(random.randrange(10 ** (digits - 1), 10**digits)) for _ in range(count)]


def cards() -> list[str]:
    return [f"4{body}{luhn.calc_check_digit('4' + body)}" for body in numbers(14)]


def test_values_with_check_digits_are_recognized_and_counted():
    found = finding(cards())
    assert found == Finding("pci", "card number", 50, 50)
    ibans = [f"DE{calc_check_digits('DE00' + body)}{body}" for body in numbers(18)]
    found = finding(ibans)
    assert found and found.kind == "bank account"


def test_a_few_wrong_values_do_not_hide_the_kind():
    found = finding([*cards()[:46], "none", "n/a", "?", "4111"])
    assert found and (found.tried, found.matching) == (50, 46)


@pytest.mark.parametrize("digits", [9, 10, 11, 12, 13, 15, 16, 17, 19])
def test_random_numbers_are_no_kind(digits):
    assert all(finding(numbers(digits, 50, seed)) is None for seed in range(20))


def test_too_few_values_are_no_finding():
    assert finding(cards()[: FEWEST - 1]) is None
    assert finding(cards()[:1] * 100) is None
    assert finding([None, "", *cards()[:3]]) is None


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([f"person{n}@example.org" for n in range(20)], "e-mail address"),
        ([f"+49 170 {n:07}" for n in range(20)], "phone number"),
        ([f"$2b$12${n:022}abcdefghijklmnopqrstuvwxyz01234" for n in range(20)], "password"),
        ([f"{n:03}-{n % 90 + 1:02}-{n + 1000:04}" for n in range(100, 120)], "national id (United States)"),
    ],
)
def test_values_with_a_form_of_their_own(values, kind):
    found = finding(values)
    assert found and found.kind == kind


def test_ids_of_one_country_name_it():
    found = finding(value for value in numbers(11, 20_000) if idnr.is_valid(value))
    assert found and found.kind == "national id (Germany)"


COLUMN = Column("shop", "customers", "email", "varchar")


@pytest.mark.parametrize(
    ("pattern", "contains"),
    [
        ("*.*.email", True),
        ("shop.customers", True),
        ("SHOP.cust*.E?ail", True),
        ("`shop`.`customers`.email", True),
        ("shop.orders", False),
        ("*.*.mail", False),
    ],
)
def test_patterns_have_the_meaning_of_data_classes(pattern, contains):
    assert DataClasses({"pii": [pattern]}).contain("pii", COLUMN) is contains
    assert not DataClasses({"pci": [pattern]}).contain("pii", COLUMN)


def test_the_pattern_of_a_column_matches_it_also_with_an_unusual_name():
    for name in ("email", "e.mail", "back`tick", "sp ace"):
        column = Column("shop", "customers", name, "varchar")
        assert DataClasses({"pii": [patterns.pattern(column)]}).contain("pii", column)


class Tables:
    """Rows of information_schema, and samples of two tables, one of which is refused."""

    def rows(self, statement: str, arguments: tuple = ()) -> list[dict]:
        if "information_schema" in statement:
            return [
                {"database": "shop", "table": table, "name": name, "type": "varchar"}
                for table, name in (("a", "email"), ("a", "code"), ("b", "iban"), ("b", "email_old"))
            ]
        if "`a`" in statement:
            return [{"c0": f"p{n}@example.org", "c1": card} for n, card in enumerate(cards())]
        raise ServerError("denied", 1142, "SELECT command denied")


def test_values_names_states_and_refused_samples_are_reported():
    known = DataClasses({"pii": ["*.*.email"]}, {"pii": ["shop.b.email_*"]})
    found = propose(Tables(), known, sample=100)

    assert [
        (each.column.name, each.data_class, each.basis, each.matching, each.state) for each in found.found
    ] == [
        ("email", "pii", "name and values", 50, COVERED),
        ("code", "pci", "values", 50, NEW),
        ("iban", "pii", "name", None, NEW),
        ("email_old", "pii", "name", None, EXCLUDED),
    ]
    assert (found.columns, found.sampled_tables) == (4, 1)
    assert list(found.refused) == ["shop.b"]
