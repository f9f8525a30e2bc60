"""The delivery of alerts by webhook and mail, if alerts.yaml lists channels."""

import json
import time
from collections.abc import Mapping

from tailrace.alerts.delivery import config
from tailrace.config.resources import PYTHON_PATH
from tailrace.outputs.backoff import FAILING
from tailrace.programs.program import HEALTHY, Health, Program

SILENT_SECONDS = 120
"""The maximum time without a finished attempt; several timeouts in a row take less."""
OUTAGE_SECONDS = 600
"""The time after which an unavailable receiver is reported. A short outage needs no one."""


class DeliveryProgram(Program):
    """Configures `python -m tailrace.delivery`."""

    name = "delivery"

    def configured(self) -> bool:
        return self.settings.alerts_config.exists()

    def check(self) -> None:
        config.load(self.settings.alerts_config)

    def prepare(self) -> None:
        self.check()
        self._heartbeat().unlink(missing_ok=True)

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(PYTHON_PATH)}

    def health(self) -> Health:
        try:
            heartbeats = json.loads(self._heartbeat().read_text())
        except FileNotFoundError:
            return Health.failing("no delivery pass yet")
        for channel, heartbeat in heartbeats.items():
            silent = time.time() - heartbeat["at"]
            if heartbeat["problem"]:
                return Health.failing(heartbeat["problem"])
            if silent > SILENT_SECONDS:
                return Health.failing(f"{channel}: no attempt has ended for {silent:.0f} s")
        return HEALTHY

    def problem(self) -> str:
        """Returns which channel accepts nothing, if that lasts. A restart of the service would not help."""
        for channel, heartbeat in json.loads(self._heartbeat().read_text()).items():
            if heartbeat["state"] == FAILING and time.time() - heartbeat["since"] > OUTAGE_SECONDS:
                return f"{channel}: {heartbeat['detail']}"
        return ""
