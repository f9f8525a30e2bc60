"""Attempts of the security review (docs/SECURITY.md, OWASP ASVS) that need no running component."""

import importlib
import json
import logging
import pkgutil
import re
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from ipaddress import ip_network
from pathlib import Path

import pytest
import tailrace_chart_csv
import tailrace_log_lines
import yaml
from flask import Flask, request

import tailrace
import tailrace_pages
from e2e import receivers
from e2e.alert_rows import alert
from e2e.limits import LIMIT_SECONDS
from tailrace.alerts.delivery import mail, trial
from tailrace.alerts.delivery.config import Email, HttpService, Selection, Webhook
from tailrace.alerts.delivery.delivery_log import DELIVERED, FAILED, Due
from tailrace.alerts.delivery.service import sender_of
from tailrace.config import yaml_reader
from tailrace.config.resources import REPOSITORY
from tailrace.config.smtp import MailServer
from tailrace.config.yaml_reader import ConfigurationError
from tailrace.outputs import guarded_http
from tailrace_pages import csv_table

DASHBOARDS = "https://tailrace.example.com"


# --- SSRF -------------------------------------------------------------------------------------------------


@contextmanager
def web_server(context: ssl.SSLContext | None = None) -> Iterator[tuple[int, list[bytes]]]:
    """A receiver on 127.0.0.1 that answers 200. Yields its port and what it received."""
    received: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                try:
                    wrapped = context.wrap_socket(connection, server_side=True) if context else connection
                    received.append(wrapped.recv(65536))
                    wrapped.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                except OSError:
                    continue

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1], received
        listener.shutdown(socket.SHUT_RDWR)


def webhook(tmp_path: Path, url: str, ca_file: Path | None = None) -> Webhook:
    (tmp_path / "secret").write_text("a key")
    return Webhook("hook", Selection(), url, tmp_path / "secret", ca_file=ca_file, timeout=LIMIT_SECONDS)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_alert_is_sent_to_a_metadata_service(tmp_path, monkeypatch, scheme):
    """The address of this machine replaces the metadata service, which only a cloud has."""
    certificate, key = receivers.certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with web_server(context if scheme == "https" else None) as (port, received):
        hook = webhook(tmp_path, f"{scheme}://127.0.0.1:{port}/", certificate)
        assert sender_of(hook, DASHBOARDS).send(trial.sample()).outcome == DELIVERED
        received.clear()
        monkeypatch.setattr(guarded_http, "METADATA", (ip_network("127.0.0.0/8"), ip_network("::1/128")))
        outcome = sender_of(hook, DASHBOARDS).send(trial.sample())
    assert outcome.outcome == FAILED and "metadata address" in outcome.detail
    assert b"POST" not in b"".join(received)


@pytest.mark.parametrize("address", ["169.254.169.254", "fe80::1", "fd00:ec2::254", "100.100.100.200"])
def test_the_metadata_addresses_of_clouds_are_known(address):
    assert any(
        ip_network(address).subnet_of(net)
        for net in guarded_http.METADATA
        if net.version == ip_network(address).version
    )


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x", "gopher://x/"]
)
def test_an_address_in_a_secret_is_one_of_the_web(tmp_path, address):
    (tmp_path / "secret").write_text(address)
    service = HttpService("chat", Selection(), "slack", "", tmp_path / "secret")
    outcome = sender_of(service, DASHBOARDS).send(trial.sample())
    assert outcome.outcome == FAILED and "/etc/passwd" not in outcome.detail


# --- headers, logs and CSV --------------------------------------------------------------------------------


HOSTILE = "x\r\nBcc: all@example.com\r\n\r\nforged \x1b[2J =?utf-8?q?=0ABcc:_a?= \u202e"


def test_a_name_of_a_log_adds_no_header_to_a_mail():
    server = MailServer("mail.example.com", 25, "none", "tailrace@example.com")
    sender = mail.MailSender(Email("mail", Selection(), server, ["soc@example.com"]), DASHBOARDS)
    row = alert(entity_key=HOSTILE, rule_title=HOSTILE, instance=HOSTILE, late=False)
    sent = sender._mail(Due(row, 1, 0)).as_bytes()
    headers = sent.split(b"\n\n", 1)[0]
    assert b"Bcc" not in re.findall(rb"^([A-Za-z-]+):", headers, re.MULTILINE)


def test_a_message_of_the_log_is_one_line():
    record = tailrace_log_lines.OneLineRecord("x", logging.INFO, "x", 1, "Login failed: %s", (HOSTILE,), None)
    line = logging.Formatter("%(message)s").format(record)
    assert line.startswith("Login failed: x\\r\\nBcc") and line.isprintable() and "\\u202e" in line
    assert tailrace_log_lines.printable("Müller 'x' \\n") == "Müller 'x' \\n", "ordinary text is unchanged"


@pytest.mark.parametrize("sign", "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
def test_a_cell_of_a_csv_file_is_no_formula(sign):
    assert csv_table.cell(f"{sign}HYPERLINK(1)") == f"'{sign}HYPERLINK(1)"
    assert tailrace_chart_csv.cell(f"{sign}HYPERLINK(1)") == f"'{sign}HYPERLINK(1)"
    assert csv_table.cell(f"a{sign}") == f"a{sign}"


def test_a_file_of_a_chart_contains_the_text_of_a_link():
    shown = '<a href="/superset/dashboard/x/?native_filters=%28a%29">{}</a>'
    for text, expected in (("db1", "db1"), ("a &amp; &lt;b&gt;", "a & <b>"), ("=1+1", "'=1+1")):
        assert tailrace_chart_csv.cell(shown.format(text)) == expected
    for value in ("select ?", '<a href="x">y</a> and more', 7, None):
        assert tailrace_chart_csv.cell(value) == value


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Total time (s) by query", "total-time-s-by-query-20261128T0000Z-20261129T0930Z"),
        (
            'x"; filename="a.exe\r\nSet-Cookie: y',
            "x-filename-a-exe-set-cookie-y-20261128T0000Z-20261129T0930Z",
        ),
        ("../" * 90 + "etc", "etc-20261128T0000Z-20261129T0930Z"),
        ("журнал", ""),
    ],
)
def test_a_title_is_words_in_the_name_of_a_file(title, name):
    day = datetime(2026, 11, 28)
    assert tailrace_chart_csv.file_name(title, day, day + timedelta(hours=33, minutes=30)) == name
    assert tailrace_chart_csv.file_name("Open alerts", day, None) == "open-alerts"


def test_a_download_has_the_name_of_its_chart_and_other_answers_keep_theirs(monkeypatch):
    app = Flask(__name__)
    app.after_request(tailrace_chart_csv.name_files)
    names = {"7": "open-alerts", "8": ""}
    monkeypatch.setattr(tailrace_chart_csv, "_file_name", lambda asked: names[asked["of"]])

    def download():
        return "a", {"Content-Disposition": f"attachment; filename={request.args['called']}"}

    app.add_url_rule("/data", tailrace_chart_csv.DOWNLOADED, download, methods=["POST"])
    app.add_url_rule("/other", "other", download, methods=["POST"])

    def called(path: str, of: str, name: str) -> str:
        answer = app.test_client().post(f"{path}?called={name}", data={"form_data": json.dumps({"of": of})})
        return answer.headers["Content-Disposition"].removeprefix("attachment; filename=")

    assert called("/data", "7", "20261128_134502.csv") == '"open-alerts.csv"'
    assert called("/data", "7", "20261128_134502.xlsx") == '"open-alerts.xlsx"'
    assert called("/data", "8", "20261128_134502.csv") == "20261128_134502.csv"
    assert called("/other", "7", "20261128_134502.csv") == "20261128_134502.csv"


# --- YAML -------------------------------------------------------------------------------------------------


def bomb(levels: int) -> str:
    """Returns a document whose last value represents 10 to the power of `levels` values."""
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels + 1)]
    return "\n".join([*lines, f"channels: *a{levels}"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (bomb(9), "more than 100,000 values"),
        ("channels: &a [*a]", "unconstructable recursive node"),
        ("channels: " + "[" * 5000, "nested too deeply|cannot be read"),
        ("channels: !!python/object/apply:os.system [id]", "could not determine a constructor"),
        ("channels: !!python/name:os.system", "could not determine a constructor"),
    ],
)
def test_a_hostile_document_is_refused_with_a_short_message(tmp_path, content, message):
    (tmp_path / "alerts.yaml").write_text(content)
    with pytest.raises(ConfigurationError, match=message) as refused:
        yaml_reader.read(tmp_path / "alerts.yaml")
    assert len(str(refused.value)) < 1000


def test_an_alias_of_ordinary_use_is_accepted(tmp_path):
    (tmp_path / "alerts.yaml").write_text("a: &a {b: 1}\nc: [*a, *a]")
    assert yaml_reader.read(tmp_path / "alerts.yaml").take("c", yaml_reader.listed, None) == [
        {"b": 1},
        {"b": 1},
    ]
    assert yaml.safe_load("a: 1") == {"a": 1}


RULE = """title: hostile
id: 6f3e2987-0000-4d5c-9f3e-298745dd31d0
status: test
level: high
logsource: {product: mysql, category: audit}
"""


def test_a_rule_is_no_bomb_and_its_expression_takes_linear_time(tmp_path):
    """One call of the command line for both. A backtracking engine would not end with this expression."""
    (tmp_path / "bomb.yml").write_text(
        f"{RULE}{bomb(9)}\ndetection: {{selection: *a9, condition: selection}}"
    )
    expression = "{statement|re: '^(([a-z])+.)+[A-Z]([a-z])+$'}"
    (tmp_path / "re.yml").write_text(
        f"{RULE.replace('0000-4', '0001-4')}detection: {{selection: {expression}, condition: selection}}"
    )
    log = tmp_path / "audit.log"
    log.write_text(f"20261101 10:00:00,db,ann,10.0.0.1,1,1,QUERY,shop,'select {'a' * 20_000}',0\n")
    command = [REPOSITORY / "bin" / "tailrace", "detect", "--rules", tmp_path, log]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    assert "aliases" in done.stderr + done.stdout, (done.stdout, done.stderr)
    assert "Exception" not in done.stderr


# --- regular expressions ----------------------------------------------------------------------------------


def compiled_patterns() -> dict[str, re.Pattern]:
    """Returns the patterns of all modules of the packages that read names, statements and addresses."""
    found = {}
    for package in (tailrace, tailrace_pages):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            try:
                content = vars(importlib.import_module(module.name))
            except ImportError:  # needs Superset or Flask
                continue
            found |= {
                f"{module.name}.{name}": value
                for name, value in content.items()
                if isinstance(value, re.Pattern)
            }
    return found


def repeats_in_repeats(parsed, inside: bool = False) -> bool:
    """Returns whether an unbounded repetition contains another one, the form of exponential patterns."""
    for operation, value in parsed:
        if str(operation) in ("MAX_REPEAT", "MIN_REPEAT"):
            unbounded = value[1] > 1000
            if (unbounded and inside) or repeats_in_repeats(value[2], inside or unbounded):
                return True
        elif str(operation) == "BRANCH":
            if any(repeats_in_repeats(branch, inside) for branch in value[1]):
                return True
        elif str(operation) == "SUBPATTERN" and repeats_in_repeats(value[3], inside):
            return True
    return False


def test_the_check_finds_an_exponential_pattern():
    from re import _parser

    assert repeats_in_repeats(_parser.parse("^(([a-z])+.)+[A-Z]$"))
    assert not repeats_in_repeats(_parser.parse("^[a-z]+ [a-z]+(x|yz)*$"))


def test_no_pattern_takes_exponential_time():
    from re import _parser

    patterns = compiled_patterns()
    assert len(patterns) > 20
    found = {name for name, each in patterns.items() if repeats_in_repeats(_parser.parse(each.pattern))}
    # Its repetitions are separated by a comma or a blank, so only one way matches a text.
    assert found == {"tailrace.reports.superset_reports._SCHEDULE"}
