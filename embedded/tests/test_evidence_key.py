"""The key that signs evidence, where a deployment gives it as a file."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from tailrace.config.home import Home
from tailrace.evidence import signing


def pem(key: Ed25519PrivateKey | X25519PrivateKey, password: bytes = b"") -> bytes:
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)


KEY = Ed25519PrivateKey.generate()


def test_a_given_key_is_read(tmp_path):
    (tmp_path / "key").write_bytes(pem(KEY))
    assert signing.public_pem(signing.read_private(tmp_path / "key")) == signing.public_pem(KEY)


def test_the_key_of_an_installation_is_in_its_file(tmp_path):
    key = signing.installation_key(Home(tmp_path))
    assert signing.public_pem(signing.read_private(signing.key_file(Home(tmp_path)))) == signing.public_pem(
        key
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"32 hex digits", "no private key in PEM form"),
        (signing.public_pem(KEY), "no private key in PEM form"),
        (pem(X25519PrivateKey.generate()), "no Ed25519 key"),
        (pem(KEY, b"secret"), "without a password"),
    ],
    ids=["text", "public key", "other kind", "password"],
)
def test_a_file_without_a_usable_key_is_named(tmp_path, content, problem):
    file = tmp_path / signing.SECRET
    file.write_bytes(content)
    with pytest.raises(signing.SigningKeyError, match=problem):
        signing.read_private(file)
