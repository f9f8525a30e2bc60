"""Tests pseudonyms and the vault's keys: the cases of schemas/contracts, and what is refused."""

import base64
import json
import re

import pytest
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
)

from tailrace.config.home import Home
from tailrace.config.resources import REPOSITORY
from tailrace.erasure import columns, vault
from tailrace.erasure.pseudonyms import (
    CLIENT,
    USER,
    Pseudonyms,
    SubjectError,
    is_clear,
    is_pseudonym,
    subject,
)

RULE = json.loads((REPOSITORY / "schemas" / "contracts" / "pseudonym.json").read_text())
PSEUDONYMS = Pseudonyms(bytes.fromhex(RULE["key"]))
JAVA = REPOSITORY / "stream-jobs/flink-jobs/src/main/java/io/tailrace/flink/clickhouse/SubjectColumns.java"


def private_key() -> bytes:
    key = load_der_private_key(base64.b64decode(RULE["vault"]["key_for_tests_only"]), None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize("case", RULE["names"])
def test_a_name_has_the_same_pseudonym_in_all_languages(case):
    assert PSEUDONYMS.of(case["kind"], case["name"]) == case["pseudonym"]
    assert is_clear(case["kind"], case["name"]) == (case["name"] == case["pseudonym"])


@pytest.mark.parametrize("case", RULE["vault"]["names"])
def test_opens_the_names_of_the_vault(case):
    sealed = case["wrapped_key"], case["sealed_name"]
    assert vault.open_name(private_key(), case["pseudonym"], *sealed) == case["name"]
    with pytest.raises(vault.VaultError, match="does not open the name"):
        vault.open_name(private_key(), "p1-user-0", *sealed)


def test_another_key_opens_nothing(tmp_path):
    case = RULE["vault"]["names"][0]
    vault.make_keys(Home(tmp_path))
    other = (tmp_path / "secrets" / vault.PRIVATE_KEY).read_bytes()
    with pytest.raises(vault.VaultError, match="does not open the name"):
        vault.open_name(other, case["pseudonym"], case["wrapped_key"], case["sealed_name"])


def test_keys_are_created_once_and_the_private_one_can_be_moved_away(tmp_path):
    home = Home(tmp_path)
    files = vault.make_keys(home)
    private = tmp_path / "secrets" / vault.PRIVATE_KEY
    before = files.pseudonyms.read_text(), files.public.read_text()
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in (private, files.pseudonyms, files.public))
    private.unlink()
    assert vault.make_keys(home) == files
    assert (files.pseudonyms.read_text(), files.public.read_text()) == before
    assert not private.exists()


def test_an_installation_without_pseudonyms_has_no_key(tmp_path):
    with pytest.raises(SubjectError, match=f"no pseudonyms without {vault.PSEUDONYM_KEY}"):
        vault.pseudonyms(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("user:etl", USER, "etl"),
        ("user:a:b", USER, "a:b"),
        ("client:10.0.0.9", CLIENT, "10.0.0.9"),
        ("client:::ffff:10.0.0.9", CLIENT, "10.0.0.9"),
        ("client:2001:DB8:0::7", CLIENT, "2001:db8::7"),
        ("client:Web-1", CLIENT, "Web-1"),
    ],
)
def test_a_subject_is_a_user_or_a_client_in_the_form_of_rows(text, kind, name):
    found = subject(text, PSEUDONYMS)
    assert (found.kind, found.name, found.pseudonym) == (kind, name, PSEUDONYMS.of(kind, name))
    assert is_pseudonym(found.pseudonym)
    assert subject(found.pseudonym, PSEUDONYMS).pseudonym == found.pseudonym


@pytest.mark.parametrize("text", ["etl", "user:", "table:cards", "p1-user-12", "client:127.0.0.1"])
def test_other_texts_are_no_subject(text):
    with pytest.raises(SubjectError):
        subject(text, PSEUDONYMS)


def test_the_job_has_the_same_columns():
    source = JAVA.read_text().replace("PRIVILEGED_USER,", '"priv_user",')
    body = source.split("COLUMNS = Map.of(", 1)[1].split("private SubjectColumns", 1)[0]
    tables = re.split(r'"(\w+)",\s*Map\.of\(', body)[1:]
    found = {
        table: {column: kind.lower() for column, kind in re.findall(r'"(\w+)",\s*SubjectKind\.(\w+)', text)}
        for table, text in zip(tables[::2], tables[1::2], strict=True)
    }
    assert found == {table: dict(its) for table, its in columns.COVERED.items()}


def test_the_documentation_names_what_keeps_names():
    text = (REPOSITORY / "docs" / "ERASURE.md").read_text()
    counted = columns.in_clear(subject("user:etl", PSEUDONYMS))
    assert [table for table in (*columns.COVERED, *counted) if f"`{table}`" not in text] == []
    words = {
        word for place in columns.UNSEARCHED for word in re.findall(r"[a-z_.*]*[_.][a-z_.*]+", place.name)
    }
    assert [word for word in words if f"`{word}`" not in text] == []
