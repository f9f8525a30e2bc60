"""Reads the keys of an SMTP server, which are the same in alerts.yaml and reports.yaml."""

from dataclasses import dataclass
from pathlib import Path

from tailrace.config import yaml_reader
from tailrace.config.yaml_reader import ConfigurationError, Section

SECURITY_PORTS = {"starttls": 587, "tls": 465, "none": 25}


@dataclass(frozen=True)
class MailServer:
    """Address and user of an SMTP server. `timeout` in seconds."""

    host: str
    port: int
    security: str
    """One of SECURITY_PORTS. The certificate is verified except with `none`."""
    sender: str
    user: str = ""
    password_file: Path | None = None
    ca_file: Path | None = None
    """PEM file of the trusted authorities; None: the authorities of the system."""
    timeout: int = 20


def read(section: Section) -> MailServer:
    """Reads the keys of a mail server from a section with other keys. Raises ConfigurationError."""
    security = section.take("security", yaml_reader.one_of(*SECURITY_PORTS), "starttls")
    user, password_file = section.take("user", yaml_reader.text, ""), section.file("password_file")
    if bool(user) != bool(password_file):
        raise ConfigurationError(f"{section.where}: `user` and `password_file` go together")
    if user and security == "none":
        raise ConfigurationError(f"{section.where}: a password needs `security: starttls` or `tls`")
    return MailServer(
        host=section.need("host", yaml_reader.text),
        port=section.take("port", yaml_reader.number(1, 65_535), SECURITY_PORTS[security]),
        security=security,
        sender=section.need("from", yaml_reader.address),
        user=user,
        password_file=password_file,
        ca_file=section.file("ca_file"),
        timeout=section.take("timeout", yaml_reader.span, MailServer.timeout),
    )
