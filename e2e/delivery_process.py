"""The delivery service as a separate process, with the alerts and channels of its tests."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from e2e.alert_rows import alert
from e2e.limits import LIMIT_SECONDS
from e2e.receivers import WebReceiver
from e2e.stack import Stack, wait_until
from tailrace.config.resources import REPOSITORY
from tailrace.credentials import names as credential_names

WEB_PORT = int(os.environ.get("DELIVERY_FIRST_PORT", "22230"))
MAIL_PORT = WEB_PORT + 1
SECRET = "correct horse battery staple"
ANSWER_TIMEOUT = f"{LIMIT_SECONDS}s"
"""Of channels: their receivers are in the process of the tests, which may be starved."""


class DeliveryProcess:
    """The service as a separate process, which may be killed, and its tables."""

    def __init__(self, stack: Stack, directory: Path) -> None:
        self.stack = stack
        self.directory = directory
        self._process: subprocess.Popen | None = None
        (directory / "secret").write_text(f"{SECRET}\n")
        for table in ("alerts", "alert_actions", "alert_deliveries"):
            self.clickhouse.execute(f"TRUNCATE TABLE tailrace.{table}")

    @property
    def clickhouse(self):
        return self.stack.clickhouse()

    def raised(self, **fields) -> dict:
        row = alert(**fields)
        self.insert(row)
        return row

    def insert(self, row: dict) -> None:
        self.clickhouse.insert("tailrace.alerts", [row], async_insert=0)

    def begin(self, *channels: dict) -> None:
        """Starts the service; returns when its channels exist."""
        content = {"dashboards": "https://tailrace.example.com/", "channels": list(channels)}
        (self.directory / "alerts.yaml").write_text(json.dumps(content))
        self.start()
        wait_until(
            lambda: {row["channel"] for row in self._rows("begun")} == {each["name"] for each in channels},
            "the channels to begin",
        )

    def start(self) -> None:
        home = self.stack.home
        words = ["--config", self.directory / "alerts.yaml", "--heartbeat-file", self.directory / "beat"]
        words += ["--clickhouse", f"http://127.0.0.1:{self.stack.settings.port_clickhouse}"]
        words += ["--password-file", home.secret_file(credential_names.password_name("delivery"))]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tailrace.delivery", *words],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY / "embedded")},
        )

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def await_end(self) -> None:
        """Returns when the process has ended."""
        self._process.wait(LIMIT_SECONDS)

    def stop(self) -> None:
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                assert self._process.wait(LIMIT_SECONDS) == 0
            finally:
                self._process.kill()  # or it would deliver the alerts of the next test

    def outcomes(self, row: dict) -> list[tuple[int, int, str]]:
        """Returns count, attempt and outcome of every attempt for an alert."""
        found = self.clickhouse.rows(
            "SELECT count, attempt, outcome FROM tailrace.alert_deliveries "
            "WHERE alert_id = {id:UUID} ORDER BY at",
            {"id": row["alert_id"]},
        )
        return [(each["count"], each["attempt"], each["outcome"]) for each in found]

    def await_outcome(self, row: dict, *expected: tuple[int, int, str]) -> None:
        wait_until(lambda: self.outcomes(row) == list(expected), f"the outcomes {expected}")

    def settle(self) -> None:
        """Returns when every channel has finished two more passes, the second of which is complete."""
        before = self.pulses()

        def have_passed() -> bool:
            now = self.pulses()
            return all(now[name]["passes"] > before[name]["passes"] + 1 for name in before)

        wait_until(have_passed, "two passes")

    def pulses(self) -> dict[str, dict]:
        """Returns the status of each channel by name."""
        return json.loads((self.directory / "beat").read_text())

    def _rows(self, outcome: str) -> list[dict]:
        return self.clickhouse.rows(
            "SELECT * FROM tailrace.alert_deliveries WHERE outcome = {outcome:String}", {"outcome": outcome}
        )


def webhook(**options) -> dict:
    url = f"http://127.0.0.1:{WEB_PORT}/hook"
    given = {"name": "siem", "kind": "webhook", "url": url, "secret_file": "secret", "retry_initial": "1s"}
    return {**given, "retry_max": "2s", "timeout": ANSWER_TIMEOUT, **options}


def email(**options) -> dict:
    given = {"name": "night", "kind": "email", "host": "127.0.0.1", "port": MAIL_PORT, "security": "none"}
    addresses = {"from": "tailrace@example.com", "to": ["soc@example.com"]}
    return {**given, **addresses, "retry_initial": "1s", "retry_max": "2s", **options}


def keys(web: WebReceiver) -> list[str]:
    return [request.headers["Idempotency-Key"] for request in web.requests]


def hexadecimal(row: dict) -> str:
    return row["alert_id"].replace("-", "")
