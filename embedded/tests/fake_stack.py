"""A stack of small real processes for the supervisor's tests: `fake_stack.py HOME COMPONENT…`, which polls
the list of sources every SOURCES_POLL seconds.

A component is named `<behaviour>-<anything>`, `<behaviour>-<anything>:<needed component>`, or
`<behaviour>-<anything>><component that it feeds>`. The behaviour `reading` depends on the listed logs;
`asking` runs while servers are listed.
"""

import asyncio
import os
import re
import sys
from pathlib import Path
from signal import SIGTERM

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.programs.program import HEALTHY, Health
from tailrace.sources import active_sources
from tailrace.sources.sources_file import Listed
from tailrace_local.supervisor.component import Component
from tailrace_local.supervisor.process_manager import RestartBackoff
from tailrace_local.supervisor.supervisor import Supervisor

SAY_UP = 'echo up > "$HERE/up"; echo start $$ >> "$HERE/../../order"'
SAY_END = "trap 'echo end $$ >> \"$HERE/../../order\"; exit 0' TERM"
WAIT = "while :; do sleep 1 & wait $!; done"
"""A shell obeys a signal at once while it waits, but only after a command in the foreground."""

SCRIPTS = {
    "steady": f"{SAY_END}; {SAY_UP}; echo hello from the part; {WAIT}",
    "reading": f"{SAY_END}; {SAY_UP}; {WAIT}",
    "asking": f"{SAY_END}; {SAY_UP}; {WAIT}",
    "complaining": f"{SAY_END}; {SAY_UP}; {WAIT}",
    "stubborn": f"trap '' TERM; {SAY_UP}; {WAIT}",
    "crashing": "echo about to fail; exit 3",
    "deaf": WAIT,  # never becomes healthy
    "deafstubborn": f"trap 'touch \"$HERE/asked-to-end\"' TERM; {WAIT}",
    "parent": f"{SAY_END}; sleep 1000 & {SAY_UP}; {WAIT}",
    "parting": f"setsid sleep 1000 & {SAY_UP}; {WAIT}",  # its child leaves the process group
    "chatty": f"{SAY_UP}; while :; do echo 0123456789012345678901234567890123456789; done",
}


class FakeComponent(Component):
    """A shell script that is healthy once it has written the file `up`."""

    stop_signal = SIGTERM

    def __init__(self, name: str, needs: tuple[str, ...], settings: Settings, home: Home) -> None:
        super().__init__(settings, home)
        self.name = name
        self.needs = needs
        # Short only where a test awaits their end: a starved shell needs longer to start and to end.
        self.grace_seconds = {"stubborn": 1, "deafstubborn": 5}.get(name.split("-")[0], 600)
        self.start_seconds = 3 if name.startswith("deaf") else 600
        self.checks_data_at_start = name.startswith("steadychecking")
        self.provision_seconds = 0.1 if name.startswith("steadyagain") else 0
        self.refresh_seconds = 0.1 if name.startswith("steadyrefreshed") else 0

    def reads(self, listed: Listed) -> object:
        return set(listed.logs) if self.name.startswith("reading") else None

    def problem(self) -> str:
        return "it needs an operator" if self.name.startswith("complaining") else ""

    def installed(self) -> bool:
        return True

    def install(self, progress) -> None:
        raise AssertionError("is always installed")

    def prepare(self) -> None:
        (self._here / "up").unlink(missing_ok=True)

    def command(self) -> list[str]:
        return [
            "/bin/sh",
            "-c",
            SCRIPTS[re.sub("^steady.*", "steady", self.name.split("-")[0])],
        ]

    def environment(self) -> dict[str, str]:
        return {"HERE": str(self._here)}

    def health(self) -> Health:
        return HEALTHY if (self._here / "up").exists() else Health.failing("has not reported that it is up")

    def provision(self) -> None:
        (self._here / "provisioned").touch()

    def refresh(self) -> None:
        with (self._here / "refreshed").open("a") as file:
            file.write("x")
        raise OSError("an error that is ignored")

    def version(self) -> str:
        """Returns the version; `late` does not answer the first time."""
        answers = self._here / "asked-for-version"
        if self.name.startswith("steadylate") and not answers.exists():
            answers.touch()
            raise TimeoutError("timed out")
        return "1.0"

    def address(self) -> str:
        return "-"

    @property
    def _here(self) -> Path:
        return self.home.data(self.name)


async def main(root: Path, components: list[str]) -> None:
    home = Home(root)
    settings = Settings(
        home=root,
        sources=root / "sources.yaml",
        sources_poll_interval=int(os.environ["SOURCES_POLL"]),
        log_bytes=20_000,
        log_files=2,
        health_interval=1,
    )

    def assemble() -> list[Component]:
        tiny = [_component(spec, settings, home) for spec in components]
        asked = active_sources.active_or_listed(settings, home).servers
        return [component for component in tiny if asked or not component.name.startswith("asking")]

    await Supervisor(assemble, settings, home, RestartBackoff(first=0.1, maximum=0.4, stable=2)).run()


def _component(spec: str, settings: Settings, home: Home) -> FakeComponent:
    rest, _, feeds = spec.partition(">")
    name, _, needs = rest.partition(":")
    component = FakeComponent(name, tuple(needs.split(",")) if needs else (), settings, home)
    component.feeds = (feeds,) if feeds else ()
    return component


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
