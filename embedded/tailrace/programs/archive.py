"""The archive of closed days: a run each day."""

from tailrace.programs.program import Health, ModuleProgram

SILENT_SECONDS = 86_400
"""The maximum age of a heartbeat: a run may write the days of months."""
UNSOLVED_SECONDS = 7200
"""The time after which a run that fails again and again is reported. The next one may succeed."""


class ArchiveProgram(ModuleProgram):
    """Configures `python -m tailrace.archive`."""

    name = "archive"

    def configured(self) -> bool:
        return bool(self.settings.archive)

    def prepare(self) -> None:
        self._heartbeat().unlink(missing_ok=True)

    def health(self) -> Health:
        return self._health_by_heartbeat("has not begun its first run", SILENT_SECONDS)

    def problem(self) -> str:
        """Returns why days are not archived or differ, if that lasts."""
        return self._lasting_problem(UNSOLVED_SECONDS)
