"""Certificates of a secured stack: a private authority, and the certificates that it signs for components.

All files are in `secrets/tls/` of the home directory, private to its user:

    trust.pem       certificates of the trusted authorities; it exists if the stack is secured
    ca.pem          the authority: key and certificate. Needed only to create certificates
    ca-next.pem     the next authority, between `prepare_authority` and `retire_authority`
    kafka.pem       key and certificate of the broker, for clients and for itself
    admin.pem       of the stack's administration: super user of Kafka, reader of Flink's REST interface
    superset.pem    of the dashboards
    clickhouse.pem  of ClickHouse's HTTPS listener
    flink.p12, trust.p12
                    the formats that Flink needs: its key and certificate, and trust.pem; the password is the
                    secret `flink-keystore`

Keys are P-256. An authority is valid for ten years, a certificate for one year.
"""

import ipaddress
import os
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tailrace.config.home import Home
from tailrace.errors import ReportedError

AUTHORITY_DAYS = 3650
LEAF_DAYS = 365
RENEWAL_DAYS = 30
"""`tailrace status` reports certificates with a shorter validity."""
CLOCK_SKEW = timedelta(minutes=5)

SERVER, CLIENT = ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH
USAGES = {
    "kafka": (SERVER, CLIENT),
    "admin": (CLIENT,),
    "superset": (SERVER,),
    "flink": (SERVER, CLIENT),
    "clickhouse": (SERVER,),
}
KEYSTORE_PASSWORD = "flink-keystore"
HOSTS = ("localhost",)
LOOPBACK = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))


class CertificateError(ReportedError):
    """Certificates cannot be changed as requested; the message states the reason."""


@dataclass(frozen=True)
class Identity:
    """A certificate with its key."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    def pem(self) -> bytes:
        """Key and certificate in one file, as Kafka, OpenSSL and Gunicorn read them."""
        key = self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return key + self.certificate.public_bytes(serialization.Encoding.PEM)


@dataclass(frozen=True)
class Certificates:
    """The certificates of one home directory."""

    home: Home
    hosts: tuple[str, ...] = HOSTS
    """Host names of the servers besides 127.0.0.1, for new certificates."""

    @property
    def directory(self) -> Path:
        return self.home.secrets / "tls"

    @property
    def trust(self) -> Path:
        """The trusted authorities, PEM. Collectors on other machines need a copy."""
        return self.directory / "trust.pem"

    def file(self, name: str) -> Path:
        """The file with key and certificate of one of USAGES."""
        return self.directory / f"{name}.{'p12' if name == 'flink' else 'pem'}"

    @property
    def java_trust(self) -> Path:
        return self.directory / "trust.p12"

    def exist(self) -> bool:
        return self.trust.exists()

    def make(self) -> None:
        """Creates an authority and all certificates if there are none."""
        if self.exist():
            return
        self.directory.mkdir(mode=0o700, exist_ok=True)
        authority = _authority()
        self._write("ca.pem", authority.pem())
        self._sign(authority)
        self._write_trust(authority)

    def complete(self) -> None:
        """Creates the certificates that an earlier version did not have. Raises CertificateError."""
        missing = [name for name in USAGES if not self.file(name).exists()]
        if not missing:
            return
        try:
            authority = self._newest_authority()
        except OSError as error:
            raise CertificateError(
                f"the certificate of {missing[0]} is missing, and its authority cannot be read: {error}"
            ) from error
        self._sign(authority, missing)

    def prepare_authority(self) -> None:
        """Creates the next authority and trusts it in addition to the present one. Raises
        CertificateError."""
        if (self.directory / "ca-next.pem").exists():
            raise CertificateError(
                "a next authority exists already: tailrace credentials renew, "
                "then: tailrace credentials retire"
            )
        following = _authority()
        self._write("ca-next.pem", following.pem())
        self._write_trust(self._read("ca"), following)

    def renew(self) -> None:
        """Creates all certificates again, signed by the newest authority."""
        self._sign(self._newest_authority())

    def retire_authority(self) -> None:
        """Trusts only the next authority from now on. Raises CertificateError."""
        if not (self.directory / "ca-next.pem").exists():
            raise CertificateError(
                "there is no next authority; prepare one first: tailrace credentials authority"
            )
        following = self._read("ca-next")
        if not _signed_by(following.certificate, self.certificate("kafka")):
            raise CertificateError(
                "the old authority has signed the certificates; renew them first: tailrace credentials renew"
            )
        self._write("ca.pem", following.pem())
        (self.directory / "ca-next.pem").unlink()
        self._write_trust(following)

    def certificate(self, name: str) -> x509.Certificate:
        """The certificate of one of USAGES."""
        content = self.file(name).read_bytes()
        if name != "flink":
            return x509.load_pem_x509_certificate(content)
        password = self.home.secret(KEYSTORE_PASSWORD).encode()
        _, certificate, _ = pkcs12.load_key_and_certificates(content, password)
        assert certificate
        return certificate

    def authorities(self) -> list[x509.Certificate]:
        """The trusted authorities."""
        return x509.load_pem_x509_certificates(self.trust.read_bytes())

    def first_expiry(self) -> datetime:
        """The earliest end of validity of all certificates, including authorities."""
        present = [name for name in USAGES if self.file(name).exists()]
        known = [*map(self.certificate, present), *self.authorities()]
        return min(certificate.not_valid_after_utc for certificate in known)

    def client(self, name: str = "") -> ssl.SSLContext:
        """A TLS context for connections to components, with the certificate of that name."""
        context = ssl.create_default_context(cafile=str(self.trust))
        if name:
            context.load_cert_chain(self.file(name))
        return context

    def _newest_authority(self) -> Identity:
        is_next = (self.directory / "ca-next.pem").exists()
        return self._read("ca-next" if is_next else "ca")

    def _sign(self, authority: Identity, names: Iterable[str] = USAGES) -> None:
        for name in names:
            identity = _leaf(name, USAGES[name], self.hosts, authority)
            self._write(
                self.file(name).name, self._key_store(identity) if name == "flink" else identity.pem()
            )

    def _key_store(self, identity: Identity) -> bytes:
        password = self.home.secret(KEYSTORE_PASSWORD).encode()
        encryption = serialization.BestAvailableEncryption(password)
        return pkcs12.serialize_key_and_certificates(
            b"flink", identity.key, identity.certificate, None, encryption
        )

    def _write_trust(self, *authorities: Identity) -> None:
        certificates = [authority.certificate for authority in authorities]
        password = self.home.secret(KEYSTORE_PASSWORD).encode()
        java = pkcs12.serialize_java_truststore(
            [
                pkcs12.PKCS12Certificate(each, f"authority-{number}".encode())
                for number, each in enumerate(certificates)
            ],
            serialization.BestAvailableEncryption(password),
        )
        self._write(self.java_trust.name, java)
        pem = b"".join(each.public_bytes(serialization.Encoding.PEM) for each in certificates)
        self._write(self.trust.name, pem)

    def _read(self, name: str) -> Identity:
        content = (self.directory / f"{name}.pem").read_bytes()
        key = serialization.load_pem_private_key(content, None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        return Identity(key, x509.load_pem_x509_certificate(content))

    def _write(self, name: str, content: bytes) -> None:
        draft = self.directory / f".{name}.{os.getpid()}"
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
        draft.replace(self.directory / name)


def fingerprint(certificate: x509.Certificate) -> str:
    """The first 16 hex digits of the certificate's SHA-256."""
    return certificate.fingerprint(hashes.SHA256()).hex()[:16]


def issuer(certificate: x509.Certificate, authorities: list[x509.Certificate]) -> str:
    """The fingerprint of the authority that signed it; empty if it is none of these."""
    return next((fingerprint(each) for each in authorities if _signed_by(each, certificate)), "")


def _authority() -> Identity:
    key = ec.generate_private_key(ec.SECP256R1())
    # A distinct name for each authority, so that they can be distinguished in one list.
    subject = _name(f"Tailrace authority {x509.random_serial_number():x}"[:32])
    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    builder = (
        _builder(subject, key, AUTHORITY_DAYS)
        .issuer_name(subject)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
    )
    return Identity(key, builder.sign(key, hashes.SHA256()))


def _leaf(
    name: str, usages: tuple[x509.ObjectIdentifier, ...], hosts: tuple[str, ...], authority: Identity
) -> Identity:
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = authority.certificate
    builder = (
        _builder(_name(name), key, LEAF_DAYS)
        .issuer_name(issuer.subject)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()), critical=False
        )
    )
    if SERVER in usages:
        names = x509.SubjectAlternativeName([*map(x509.DNSName, hosts), LOOPBACK])
        builder = builder.add_extension(names, critical=False)
    return Identity(key, builder.sign(authority.key, hashes.SHA256()))


def _builder(subject: x509.Name, key: ec.EllipticCurvePrivateKey, days: int) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _signed_by(authority: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True
