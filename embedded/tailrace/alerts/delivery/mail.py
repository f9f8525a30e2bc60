"""Alerts by mail: one in each, as plain text; in a flood many in one.

No answer of a machine shall start a loop: mails say that a machine wrote them (RFC 3834). The Message-ID is
made of the alert and its count, so that mail programs show a repeated attempt once, and later counts in one
thread.
"""

import contextlib
import smtplib
import ssl
from collections.abc import Iterable, Sequence
from email.message import EmailMessage
from email.utils import format_datetime, localtime

from tailrace.alerts import mitre_attack
from tailrace.alerts.delivery import ecs
from tailrace.alerts.delivery.config import Email
from tailrace.alerts.delivery.delivery_log import DELIVERED, FAILED, REFUSED, SUMMARY, Due, Outcome
from tailrace.clickhouse.client import Row

MAX_SUBJECT = 180
DOMAIN = "tailrace.invalid"


class MailSender:
    """Makes one attempt at a time."""

    def __init__(self, email: Email, dashboards: str) -> None:
        self._email = email
        self._dashboards = dashboards

    def send(self, due: Due) -> Outcome:
        """One alert in one mail; raises nothing."""
        return self._send(self._mail(due), "")

    def send_summary(self, dues: Sequence[Due]) -> Outcome:
        """Many alerts in one mail; raises nothing."""
        return self._send(self._summary(dues), f"{SUMMARY} of {len(dues)}; ")

    def _send(self, mail: EmailMessage, detail: str) -> Outcome:
        try:
            with self._connected() as server:
                refused = server.send_message(mail)
        except smtplib.SMTPRecipientsRefused as error:
            return _refused_recipients(error)
        except smtplib.SMTPAuthenticationError as error:  # whoever puts it right wants the alert
            return Outcome(FAILED, _answer(error))
        except smtplib.SMTPResponseException as error:
            return Outcome(REFUSED if error.smtp_code >= 500 else FAILED, _answer(error))
        except (OSError, ValueError, smtplib.SMTPException) as error:  # a ValueError: a strange password
            return Outcome(FAILED, str(error) or type(error).__name__)
        but = f", but not by {', '.join(refused)}" if refused else ""
        return Outcome(DELIVERED, f"{detail}accepted by {self._email.server.host}{but}")

    @contextlib.contextmanager
    def _connected(self) -> Iterable[smtplib.SMTP]:
        to = self._email.server
        trusted = ssl.create_default_context(cafile=to.ca_file)
        with contextlib.ExitStack() as stack:
            if to.security == "tls":
                server = smtplib.SMTP_SSL(to.host, to.port, timeout=to.timeout, context=trusted)
            else:
                server = smtplib.SMTP(to.host, to.port, timeout=to.timeout)
            stack.enter_context(server)
            if to.security == "starttls":
                server.starttls(context=trusted)
            if to.user:
                server.login(to.user, to.password_file.read_text().strip())
            yield server

    def _mail(self, due: Due) -> EmailMessage:
        alert = due.alert
        mail = self._empty(f"[Tailrace {alert['level']}] {alert['rule_title']}{_about(alert)}")
        mail["Message-ID"] = f"<{due.idempotency_key}@{DOMAIN}>"
        mail["References"] = f"<{due.id}@{DOMAIN}>"
        mail.set_content("\n".join(_text(alert, self._dashboards)))
        return mail

    def _summary(self, dues: Sequence[Due]) -> EmailMessage:
        worst = max(dues, key=lambda due: ecs.SEVERITY.get(str(due.alert["level"]), 0)).alert["level"]
        mail = self._empty(f"[Tailrace {worst}] {len(dues)} more alerts")
        lines = [f"{due.id[:8]}  {_one_line(ecs.message(due.alert))}" for due in dues]
        told = "There are so many alerts that they come together. `tailrace alerts show ID` shows each."
        mail.set_content("\n".join([told, "", *lines, ""]))
        return mail

    def _empty(self, subject: str) -> EmailMessage:
        mail = EmailMessage()
        mail["From"] = self._email.server.sender
        mail["To"] = ", ".join(self._email.to)
        mail["Subject"] = _without_codes(_one_line(subject))[:MAX_SUBJECT]
        mail["Date"] = format_datetime(localtime())
        mail["Auto-Submitted"] = "auto-generated"
        mail["X-Auto-Response-Suppress"] = "All"
        return mail


def _refused_recipients(error: smtplib.SMTPRecipientsRefused) -> Outcome:
    answers = {address: code for address, (code, _) in error.recipients.items()}
    outcome = REFUSED if all(code >= 500 for code in answers.values()) else FAILED
    return Outcome(outcome, f"recipients refused: {answers}")


def _answer(error: smtplib.SMTPResponseException) -> str:
    text = (
        error.smtp_error.decode(errors="replace") if isinstance(error.smtp_error, bytes) else error.smtp_error
    )
    return f"{error.smtp_code} {_one_line(text)}"


def _about(alert: Row) -> str:
    about = f": {alert['entity_key']}" if alert["entity_key"] else ""
    return f"{about} ({alert['instance']})" if alert["instance"] else about


def _one_line(text: str) -> str:
    """Names of users come from the attacker, too: no control character reaches a header."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _without_codes(header: str) -> str:
    """Encoded words (RFC 2047) are decoded when a header is set: `=?utf-8?q?=0A…?=` would end the line."""
    return header.replace("=?", "= ?")


def _text(alert: Row, dashboards: str) -> list[str]:
    tactics = [name for _, name in mitre_attack.tactics(alert["tags"])]
    fields = {
        "About": alert["entity_key"],
        "User": alert["user"],
        "From": alert["src_ip"],
        "Program": alert["program"],
        "Server": alert["instance"],
        "Database": alert["database"],
        "When": f"{ecs.time_of(alert['window_from'])} to {ecs.time_of(alert['event_time'])}",
        "Alerts": alert["count"],
        "Counted": alert["metric"],
        "ATT&CK": ", ".join([*tactics, *mitre_attack.techniques(alert["tags"])]),
        "Late": "its event came after its time" if alert["late"] else "",
        "Rule": f"{alert['rule_id']} {alert['rule_file']}",
        "Id": str(alert["alert_id"]).replace("-", ""),
    }
    lines = [_one_line(ecs.message(alert)), ""]
    lines += [f"{label + ':':<10}{_one_line(str(value))}" for label, value in fields.items() if value]
    lines += _paragraph("Statements (literals masked)", alert["statements"])
    lines += _paragraph("Facts", (f"{name}: {value}" for name, value in sorted(alert["facts"].items())))
    lines += _paragraph("What to do next", alert["next_steps"])
    lines += _paragraph("It may be harmless when", alert["false_positives"])
    return [*lines, "", ecs.link(alert, dashboards), f"tailrace alerts show {str(alert['alert_id'])[:8]}", ""]


def _paragraph(title: str, texts: Iterable[str]) -> list[str]:
    lines = [f"  - {_one_line(text)}" for text in texts]
    return ["", f"{title}:", *lines] if lines else []
