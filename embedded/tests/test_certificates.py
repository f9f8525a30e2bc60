"""Certificates: a handshake succeeds only with trusted ones."""

import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tailrace.config.home import Home
from tailrace.credentials.certificates import RENEWAL_DAYS, USAGES, CertificateError, Certificates, issuer


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    made = Certificates(Home(tmp_path / "home"))
    made.make()
    return made


def shake(server: Certificates, name: str, client: ssl.SSLContext, host: str = "127.0.0.1") -> None:
    """Does a handshake with a server that requires a certificate, and reads its response. Raises OSError."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(server.trust))
    context.load_cert_chain(server.file(name))
    context.verify_mode = ssl.CERT_REQUIRED
    here, there = socket.socketpair()
    here.settimeout(120)
    there.settimeout(120)

    def serve() -> None:
        try:
            with context.wrap_socket(there, server_side=True) as connection:
                connection.sendall(b"welcome")
        except OSError:
            there.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with client.wrap_socket(here, server_hostname=host) as connection:
            if connection.recv(10) != b"welcome":
                raise ConnectionError("connection refused")
    finally:
        here.close()
        thread.join()


def test_administration_and_broker_trust_each_other(certificates):
    shake(certificates, "kafka", certificates.client("admin"))


def test_a_stack_of_an_earlier_version_gets_the_certificates_that_it_lacks(certificates):
    kept = certificates.file("kafka").read_bytes()
    certificates.file("clickhouse").unlink()
    certificates.first_expiry()
    certificates.complete()
    assert issuer(certificates.certificate("clickhouse"), certificates.authorities())
    assert certificates.file("kafka").read_bytes() == kept

    certificates.file("clickhouse").unlink()
    certificates.file("ca").unlink()
    with pytest.raises(CertificateError, match="the certificate of clickhouse is missing"):
        certificates.complete()


def test_clients_without_a_certificate_are_refused(certificates):
    with pytest.raises(OSError):
        shake(certificates, "kafka", certificates.client())


def test_a_servers_certificate_is_not_valid_for_a_client(certificates):
    with pytest.raises(OSError):
        shake(certificates, "kafka", certificates.client("superset"))


def test_the_certificate_is_for_this_machine_only(certificates):
    shake(certificates, "kafka", certificates.client("admin"), "localhost")
    with pytest.raises(ssl.SSLCertVerificationError, match="IP address mismatch"):
        shake(certificates, "kafka", certificates.client("admin"), "127.0.0.2")


def test_another_authority_is_not_trusted(certificates, tmp_path):
    other = Certificates(Home(tmp_path / "other"))
    other.make()
    with pytest.raises(ssl.SSLCertVerificationError, match=r"unable to get local issuer|self-signed"):
        shake(certificates, "kafka", other.client("admin"))


def test_certificates_are_created_once_and_are_private(certificates):
    before = certificates.file("kafka").read_bytes()
    certificates.make()
    assert certificates.file("kafka").read_bytes() == before
    for path in (certificates.directory, *certificates.directory.iterdir()):
        assert path.stat().st_mode & 0o077 == 0, path


def test_an_authority_is_replaced_in_three_steps(certificates):
    with pytest.raises(CertificateError, match="no next authority"):
        certificates.retire_authority()
    (first,) = certificates.authorities()
    old = certificates.client("admin")

    certificates.prepare_authority()
    assert certificates.authorities()[0] == first
    shake(certificates, "kafka", old)
    with pytest.raises(CertificateError, match="exists already"):
        certificates.prepare_authority()
    with pytest.raises(CertificateError, match="old authority has signed"):
        certificates.retire_authority()

    both = certificates.client("admin")
    certificates.renew()
    shake(certificates, "kafka", both)
    with pytest.raises(ssl.SSLCertVerificationError):
        shake(certificates, "kafka", old)

    certificates.retire_authority()
    assert first not in certificates.authorities()
    with pytest.raises(OSError):
        shake(certificates, "kafka", both)
    shake(certificates, "kafka", certificates.client("admin"))
    assert {issuer(certificates.certificate(name), [first]) for name in USAGES} == {""}


def test_certificates_are_valid_for_a_year(certificates):
    left = certificates.first_expiry() - datetime.now(UTC)
    assert timedelta(days=RENEWAL_DAYS) < left < timedelta(days=366)
