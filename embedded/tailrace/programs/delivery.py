"""The delivery of alerts by webhook and mail, if alerts.yaml lists channels."""

import json
import time
from collections.abc import Mapping

from tailrace.alerts.delivery import config
from tailrace.outputs.backoff import FAILING
from tailrace.programs.program import HEALTHY, STUCK_SECONDS, Health, ModuleProgram

SILENT_SECONDS = 120
"""The maximum time without a finished attempt; several timeouts in a row take less."""
OUTAGE_SECONDS = 600
"""The time after which an unavailable receiver is reported. A short outage needs no one."""
NONE_YET = "no delivery pass yet"


class DeliveryProgram(ModuleProgram):
    """Configures `python -m tailrace.delivery`."""

    name = "delivery"

    def configured(self) -> bool:
        return self.settings.alerts_config.exists()

    def check(self) -> None:
        config.load(self.settings.alerts_config)

    def prepare(self) -> None:
        self.check()
        self._heartbeat().unlink(missing_ok=True)

    def health(self) -> Health:
        try:
            heartbeats = json.loads(self._heartbeat().read_text())
        except FileNotFoundError:
            return Health.failing(NONE_YET)
        problems = (heartbeat["problem"] for heartbeat in heartbeats.values())
        problem = next(filter(None, problems), "") or self._silence(heartbeats, SILENT_SECONDS)
        return Health.failing(problem) if problem else HEALTHY

    def liveness(self) -> Health:
        """A restart forgets outcomes that ClickHouse did not accept: their alerts would be sent again."""
        try:
            silence = self._silence(json.loads(self._heartbeat().read_text()), STUCK_SECONDS)
        except FileNotFoundError:
            return Health.failing(NONE_YET)
        return Health.failing(silence) if silence else HEALTHY

    @staticmethod
    def _silence(heartbeats: Mapping[str, Mapping], longest: float) -> str:
        """Returns which channel has been silent for longer, in one clause; empty if none has."""
        silent = {channel: time.time() - heartbeat["at"] for channel, heartbeat in heartbeats.items()}
        found = [
            f"{name}: no attempt has ended for {seconds:.0f} s"
            for name, seconds in silent.items()
            if seconds > longest
        ]
        return found[0] if found else ""

    def problem(self) -> str:
        """Returns which channel accepts nothing, if that lasts. A restart of the service would not help."""
        for channel, heartbeat in json.loads(self._heartbeat().read_text()).items():
            if heartbeat["state"] == FAILING and time.time() - heartbeat["since"] > OUTAGE_SECONDS:
                return f"{channel}: {heartbeat['detail']}"
        return ""
