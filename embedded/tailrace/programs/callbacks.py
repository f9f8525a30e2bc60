"""Records actions on alerts that other tools request, if callbacks.yaml lists such tools."""

from tailrace.alerts.callbacks import config
from tailrace.programs.program import Health, ModuleProgram

SILENT_SECONDS = 120


class CallbackProgram(ModuleProgram):
    """Configures `python -m tailrace.callbacks`."""

    name = "callbacks"

    def configured(self) -> bool:
        return self.settings.callbacks_config.exists()

    def check(self) -> None:
        config.load(self.settings.callbacks_config)

    def prepare(self) -> None:
        self.check()
        self._heartbeat().unlink(missing_ok=True)

    def health(self) -> Health:
        return self._health_by_heartbeat("does not listen yet", SILENT_SECONDS)
