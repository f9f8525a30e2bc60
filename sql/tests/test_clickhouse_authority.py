"""Clients of a ClickHouse whose certificate a private authority has signed, as the chart configures them.

The embedded engine has no TLS listener. A proxy ends TLS in front of it, so the clients' side is real.
"""

import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from docker.tests.conftest import ToOutput
from tailrace.config.home import Home
from tailrace.credentials.certificates import Certificates
from tailrace.credentials.names import password_name
from tailrace.dashboards.connections import connections_to
from tailrace_local.components.superset import Superset

CERTIFICATE = "superset"
"""Of the made certificates, one that is valid for 127.0.0.1."""
QUERY = """
import sys, sqlalchemy
uri = sys.argv[1].replace("XXXXXXXXXX", sys.argv[2])
print(sqlalchemy.create_engine(uri).connect().execute(sqlalchemy.text("SELECT currentUser()")).scalar())
"""


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    made = Certificates(Home(tmp_path_factory.mktemp("certificates")))
    made.make()
    return made


@pytest.fixture(scope="module")
def port(server, certificates: Certificates) -> Iterator[int]:
    """A port with TLS in front of ClickHouse."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.file(CERTIFICATE))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        target = server.settings.port_clickhouse
        threading.Thread(target=_accept, args=(listener, context, target), daemon=True).start()
        yield listener.getsockname()[1]


def _accept(listener: socket.socket, context: ssl.SSLContext, target: int) -> None:
    while listener.fileno() >= 0:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_forward, args=(client, context, target), daemon=True).start()


def _forward(client: socket.socket, context: ssl.SSLContext, target: int) -> None:
    try:
        secured = context.wrap_socket(client, server_side=True)
        plain = socket.create_connection(("127.0.0.1", target))
        threading.Thread(target=_copy, args=(plain, secured), daemon=True).start()
        _copy(secured, plain)
    except OSError:
        client.close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        target.close()


def environment(certificates: Certificates | None) -> dict[str, str]:
    without = {name: value for name, value in os.environ.items() if name != "SSL_CERT_FILE"}
    return {**without, "SSL_CERT_FILE": str(certificates.trust)} if certificates else without


def run_tokens(server, port: int, secrets: Path, trusted: Certificates | None) -> subprocess.CompletedProcess:
    """Runs a command of the image in a process of its own, whose environment says what it trusts."""
    shutil.copy(server.home.secret_file(password_name("admin")), secrets)
    words = ["command", "--secrets", str(secrets), "--clickhouse", f"https://127.0.0.1:{port}"]
    program = [sys.executable, "-m", "tailrace.deployment", *words, "tokens", "list", "--output", "json"]
    home = {"TAILRACE_HOME": str(secrets / "home")}
    return subprocess.run(program, env={**environment(trusted), **home}, capture_output=True, text=True)


def test_a_tool_trusts_the_authority_of_its_environment(server, admin, port, certificates, tmp_path):
    done = run_tokens(server, port, tmp_path, certificates)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_a_tool_refuses_an_authority_that_it_does_not_know(server, admin, port, tmp_path):
    done = run_tokens(server, port, tmp_path, None)
    assert done.returncode == 1
    assert "certificate verify failed" in done.stderr and "Traceback" not in done.stderr


def test_supersets_driver_trusts_the_same_authority(server, admin, port, certificates, tmp_path):
    superset = Superset(server.settings, Home(tmp_path))
    if not superset.installed():
        superset.install(ToOutput())
    users = connections_to(f"127.0.0.1:{port}", server.home.secret, has_tls=True)
    uri, password = users["tailrace"]
    command = [superset.python(), "-c", QUERY, uri, password]
    trusting = subprocess.run(command, env=environment(certificates), capture_output=True, text=True)
    assert trusting.stdout == "reader_developer\n", trusting.stderr
    other = subprocess.run(command, env=environment(None), capture_output=True, text=True)
    assert other.returncode != 0
    assert "CERTIFICATE_VERIFY_FAILED" in other.stderr
