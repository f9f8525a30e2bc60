"""Records actions on alerts that other tools request, if callbacks.yaml lists such tools."""

from collections.abc import Mapping

from tailrace.alerts.callbacks import config
from tailrace.config.resources import PYTHON_PATH
from tailrace.programs.program import Health, Program

SILENT_SECONDS = 120


class CallbackProgram(Program):
    """Configures `python -m tailrace.callbacks`."""

    name = "callbacks"

    def configured(self) -> bool:
        return self.settings.callbacks_config.exists()

    def check(self) -> None:
        config.load(self.settings.callbacks_config)

    def prepare(self) -> None:
        self.check()
        self._heartbeat().unlink(missing_ok=True)

    def environment(self) -> Mapping[str, str]:
        return {"PYTHONPATH": str(PYTHON_PATH)}

    def health(self) -> Health:
        return self._health_by_heartbeat("does not listen yet", SILENT_SECONDS)
