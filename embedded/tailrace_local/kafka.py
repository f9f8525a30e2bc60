"""Connects to the Kafka of this machine's stack with one of its accounts."""

import socket

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.credentials.certificates import Certificates
from tailrace.kafka.accounts import MECHANISM, USER_PREFIX, password_name
from tailrace.kafka.client import KafkaClient


def listens(port: int) -> bool:
    """Returns whether a port of this machine accepts connections."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def connect(settings: Settings, home: Home, account: str) -> KafkaClient:
    """Returns the local Kafka with an account; without one if the stack is not secured."""
    address = f"127.0.0.1:{settings.port_kafka}"
    certificates = Certificates(home)
    if not certificates.exist():
        return KafkaClient(address)
    return KafkaClient(
        address,
        {
            "security.protocol": "sasl_ssl",
            "ssl.ca.location": str(certificates.trust),
            "sasl.mechanism": MECHANISM,
            "sasl.username": USER_PREFIX + account,
            "sasl.password": home.secret(password_name(account)),
        },
    )


def administration(settings: Settings, home: Home) -> KafkaClient:
    """Returns the local Kafka for the stack's administration: with a certificate, at a separate listener."""
    certificates = Certificates(home)
    if not certificates.exist():
        return connect(settings, home, "admin")
    file = str(certificates.file("admin"))
    return KafkaClient(
        f"127.0.0.1:{settings.port_kafka_internal}",
        {
            "security.protocol": "ssl",
            "ssl.ca.location": str(certificates.trust),
            "ssl.certificate.location": file,
            "ssl.key.location": file,
        },
    )


def as_arguments(settings: Settings, home: Home, account: str) -> list[str]:
    """Returns the command-line options of a program for that account of the local Kafka."""
    client = connect(settings, home, account)
    shown = {name: value for name, value in client.properties.items() if name != "sasl.password"}
    options = ["--kafka", client.address]
    for name, value in shown.items():
        options += ["--kafka-property", f"{name}={value}"]
    if "sasl.password" in client.properties:
        options += ["--kafka-password-file", str(home.secret_file(password_name(account)))]
    return options
