"""Receivers of alerts: a web and a mail server on loopback, with responses that a test sets."""

import base64
import contextlib
import socketserver
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

OK = 200


@dataclass(frozen=True)
class Request:
    """One received POST."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class WebReceiver:
    """Stores every request; responds with the next of `answers`, then with 200. None closes the
    connection."""

    answers: list[int | None] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    before_answer: Callable[[], None] = lambda: None
    """Called after a complete request and before the response."""
    url: str = ""

    def answer(self) -> int | None:
        return self.answers.pop(0) if self.answers else OK


@contextlib.contextmanager
def web_receiver(port: int) -> Iterator[WebReceiver]:
    """Runs a web server on 127.0.0.1 during the block."""
    receiver = WebReceiver(url=f"http://127.0.0.1:{port}/hook")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.requests.append(Request(self.path, dict(self.headers), body))
            receiver.before_answer()
            status = receiver.answer()
            if status is not None:
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.send_header("Location", f"http://127.0.0.1:{port}/elsewhere")
                self.end_headers()

        do_GET = do_POST  # a followed redirect would arrive as GET

        def log_message(self, *_: object) -> None:
            """Logs nothing."""

    with _serving(ThreadingHTTPServer(("127.0.0.1", port), Handler)):
        yield receiver


def certificate(directory: Path) -> tuple[Path, Path]:
    """Creates a certificate for 127.0.0.1 that signs itself, and its key; returns both files."""
    files = directory / "certificate.pem", directory / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-out", files[0], "-keyout", files[1]),
        ],
        check=True,
        capture_output=True,
    )
    return files


@dataclass
class MailReceiver:
    """Stores every accepted mail. `answers` are those to the next DATA commands; then it accepts."""

    port: int
    answers: list[str] = field(default_factory=list)
    mails: list[EmailMessage] = field(default_factory=list)
    certificate: tuple[Path, Path] | None = None
    """Certificate and key: with them the server requires STARTTLS and a login."""
    logins: list[tuple[str, str]] = field(default_factory=list)


@contextlib.contextmanager
def mail_receiver(port: int, certificate: tuple[Path, Path] | None = None) -> Iterator[MailReceiver]:
    """Runs a mail server on 127.0.0.1 during the block, with the part of RFC 5321 that smtplib uses."""
    receiver = MailReceiver(port, certificate=certificate)

    class Handler(_SmtpHandler):
        kept = receiver

    with _serving(_ReusedPort(("127.0.0.1", port), Handler)):
        yield receiver


class _ReusedPort(socketserver.ThreadingTCPServer):
    allow_reuse_address = True


class _SmtpHandler(socketserver.StreamRequestHandler):
    kept: ClassVar[MailReceiver]

    def handle(self) -> None:
        self._say("220 ready")
        while line := self.rfile.readline():
            verb, _, rest = line.decode().strip().partition(" ")
            answer = getattr(self, f"_{verb.lower()}", lambda _: "250 OK")(rest)
            if answer:
                self._say(answer)
            if verb.upper() == "QUIT":
                return

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())

    def _ehlo(self, _: str) -> str:
        offers = ["STARTTLS", "AUTH PLAIN"] if self.kept.certificate else []
        return "\r\n".join([*(f"250-{offer}" for offer in ["receiver", *offers]), "250 8BITMIME"])

    def _starttls(self, _: str) -> str:
        self._say("220 go ahead")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.kept.certificate)
        self.request = context.wrap_socket(self.request, server_side=True)
        self.setup()
        return ""

    def _auth(self, rest: str) -> str:
        _, user, password = base64.b64decode(rest.partition(" ")[2]).decode().split("\0")
        self.kept.logins.append((user, password))
        return "235 welcome"

    def _data(self, _: str) -> str:
        self._say("354 go ahead")
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        answer = self.kept.answers.pop(0) if self.kept.answers else "250 accepted"
        if answer.startswith("250"):
            self.kept.mails.append(BytesParser(policy=default).parsebytes(b"".join(lines)))
        return answer

    def _quit(self, _: str) -> str:
        return "221 bye"


@contextlib.contextmanager
def _serving(server: socketserver.TCPServer) -> Iterator[None]:
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
