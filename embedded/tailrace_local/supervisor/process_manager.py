"""Manages the process of one component: starts it, watches its health, restarts it with back-off, stops
it."""

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tailrace.programs.program import Health
from tailrace.retry_pause import doubled
from tailrace_local.supervisor import disk
from tailrace_local.supervisor.component import Component
from tailrace_local.supervisor.logfile import RotatingLog
from tailrace_local.supervisor.process_group import Child

POLL_STARTING_SECONDS = 0.2
FAILURES_UNTIL_UNHEALTHY = 3
"""A single slow response is ignored; three in a row count as unhealthy."""
RECENT_SECONDS = 600
"""Restarts after a crash count as recent for this time."""
UNKNOWN_VERSION = "unknown"
"""The version of a component that did not answer; each health check asks again."""


class State(StrEnum):
    STOPPED = "stopped"
    WAITING = "waiting"  # for the components that it needs
    STARTING = "starting"
    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"
    BACKOFF = "backoff"
    STOPPING = "stopping"


class PartFailedError(Exception):
    """The component's process has ended, or never became healthy; the message states how."""


@dataclass
class RestartBackoff:
    """Pauses between restarts: they double from `first` to `maximum` seconds.

    After a run that was healthy for `stable` seconds, they begin with `first` again.
    """

    first: float = 0.5
    maximum: float = 30.0
    stable: float = 60.0
    _failures: int = 0

    def after(self, healthy_seconds: float) -> float:
        """Returns the pause after a run that was healthy for this many seconds."""
        self._failures = 1 if healthy_seconds >= self.stable else self._failures + 1
        return doubled(self.first, self.maximum, self._failures)


class ProcessManager:
    """The life cycle of one component. All methods belong to the supervisor's event loop."""

    def __init__(
        self,
        component: Component,
        needs: Sequence["ProcessManager"],
        log: RotatingLog,
        environment: dict[str, str],
        changed: Callable[["ProcessManager"], None],
        restart_backoff: RestartBackoff,
    ) -> None:
        self.component = component
        self.state = State.STOPPED
        self.reason = ""
        self.last_failure = ""
        self.since = time.time()
        self.restarts = 0
        self._restarted_at: list[float] = []
        self.version = ""
        self.pid: int | None = None
        self._needs = needs
        self._log = log
        self._environment = environment
        self._changed = changed
        self._restart_backoff = restart_backoff
        self._healthy_at: float | None = None
        self._ready = asyncio.Event()
        self._task: asyncio.Task | None = None

    def start(self) -> None:
        """Starts the component when the components that it needs are ready, and keeps it running."""
        if self._task is None:
            self._restarted_at.clear()
            self._task = asyncio.create_task(self._supervise(), name=self.component.name)

    @property
    def recent_restarts(self) -> int:
        """The number of restarts after a crash in the last RECENT_SECONDS, since it was started."""
        oldest = time.monotonic() - RECENT_SECONDS
        self._restarted_at = [at for at in self._restarted_at if at > oldest]
        return len(self._restarted_at)

    @property
    def is_kept(self) -> bool:
        """Whether it was started and not stopped since, even if it waits or has crashed."""
        return self._task is not None

    async def stop(self) -> None:
        """Stops the component; returns when its process group has ended."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _supervise(self) -> None:
        try:
            while True:
                await self._wait_for_needs()
                self._healthy_at = None
                try:
                    await self._live()
                # Any error leads to a retry, and is shown as the reason.
                except Exception as failure:
                    pause = self._restart_backoff.after(self._healthy_seconds())
                    self.last_failure = "; ".join(filter(None, [str(failure), self._disk_complaint()]))
                    self._enter(State.BACKOFF, f"{self.last_failure}; next try in {pause:g} s")
                    await asyncio.sleep(pause)
                    self.restarts += 1
                    self._restarted_at.append(time.monotonic())
        finally:
            self._enter(State.STOPPED)

    def _healthy_seconds(self) -> float:
        """Returns the time since the component became healthy in this run; 0 if it did not."""
        return time.monotonic() - self._healthy_at if self._healthy_at is not None else 0

    async def _wait_for_needs(self) -> None:
        for need in self._needs:
            if not need._ready.is_set():
                self._enter(State.WAITING, f"for {need.component.name}")
                await need._ready.wait()

    async def _live(self) -> None:
        """Runs the process from start to end. Raises PartFailedError, or is cancelled."""
        self._enter(State.STARTING, self._disk_complaint())
        await self._prepare()
        child = self._spawn()
        try:
            await self._watch_until_end(child)
        except asyncio.CancelledError:
            self._enter(State.STOPPING)
            raise
        finally:
            self._ready.clear()
            await _uninterrupted(child.end(self.component.stop_signal, self.component.grace_seconds))
            self._pid_file.unlink(missing_ok=True)
            self.pid = None

    async def _prepare(self) -> None:
        try:
            await asyncio.to_thread(self.component.prepare)
        except Exception as error:
            raise PartFailedError(f"cannot be prepared: {error}") from error

    def _spawn(self) -> Child:
        child = Child(
            command=[str(word) for word in self.component.command()],
            environment={**self._environment, **self.component.environment()},
            directory=self.component.home.data(self.component.name),
            log=self._log,
        )
        self.pid = child.pid
        return child

    async def _watch_until_end(self, child: Child) -> None:
        with suppress(OSError):  # a full disk must not stop a component
            self._pid_file.write_text(f"{child.pid}\n")
        ended = asyncio.create_task(child.wait())
        watched = asyncio.create_task(self._watch())
        try:
            await asyncio.wait({ended, watched}, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                raise PartFailedError(_how_it_ended(ended.result(), child.last_line()))
            watched.result()
        finally:
            watched.cancel()
            ended.cancel()

    async def _watch(self) -> None:
        try:
            async with asyncio.timeout(self.component.start_seconds):
                await self._until_healthy()
        except TimeoutError:
            raise PartFailedError(
                f"not healthy after {self.component.start_seconds:g} s: {self.reason}"
            ) from None
        self.version = await asyncio.to_thread(self._ask_version)
        await self._provision()
        self._ready.set()
        self._healthy_at = time.monotonic()
        self._enter(State.HEALTHY)
        repeated = [asyncio.create_task(each) for each in (self._provision_again(), self._refresh_again())]
        try:
            await self._watch_health()
        finally:
            for task in repeated:
                task.cancel()

    async def _provision_again(self) -> None:
        while seconds := self.component.provision_seconds:
            await asyncio.sleep(seconds)
            await self._provision()

    async def _refresh_again(self) -> None:
        while seconds := self.component.refresh_seconds:
            await asyncio.sleep(seconds)
            with suppress(Exception):  # `problem` and `health` state what is wrong
                await asyncio.to_thread(self.component.refresh)

    async def _until_healthy(self) -> None:
        while not (health := await self._ask_health()).ok:
            self.reason = self._disk_complaint() or health.reason
            await asyncio.sleep(POLL_STARTING_SECONDS)

    async def _provision(self) -> None:
        retries = RestartBackoff()
        while True:
            try:
                await asyncio.to_thread(self.component.provision)
                return
            except Exception as error:
                pause = retries.after(0)
                self._enter(State.UNHEALTHY, f"cannot be provisioned: {error}; next try in {pause:g} s")
                await asyncio.sleep(pause)

    async def _watch_health(self) -> None:
        failures = 0
        was_full = False
        while True:
            await asyncio.sleep(self.component.settings.health_interval)
            full = await asyncio.to_thread(self._disk_complaint)
            if was_full and not full and self.component.checks_data_at_start:
                raise PartFailedError("its disk was full: a restart checks its data")
            was_full = bool(full)
            # A component that responds but can store nothing is unhealthy.
            health = Health.failing(full) if full else await self._ask_health(complaints=True)
            failures = 0 if health.ok else failures + 1
            if health.ok and self.version == UNKNOWN_VERSION:
                self.version = await asyncio.to_thread(self._ask_version)
            if health.ok and self.state is State.UNHEALTHY:
                self._enter(State.HEALTHY)
            elif failures >= FAILURES_UNTIL_UNHEALTHY and self.state is State.HEALTHY:
                self._enter(State.UNHEALTHY, health.reason)

    async def _ask_health(self, complaints: bool = False) -> Health:
        return await asyncio.to_thread(self._checked_health, complaints)

    def _disk_complaint(self) -> str:
        try:
            return disk.problem(self.component.home.data(self.component.name))
        except OSError as error:
            return f"its disk cannot be checked: {error}"

    def _checked_health(self, complaints: bool) -> Health:
        try:
            health = self.component.health()
            problem = self.component.problem() if health.ok and complaints else ""
            return Health.failing(problem) if problem else health
        except Exception as error:  # an error of the check must not end the component
            return Health.failing(error)

    def _ask_version(self) -> str:
        try:
            return self.component.version()
        except Exception:
            return UNKNOWN_VERSION

    def _enter(self, state: State, reason: str = "") -> None:
        if state is not self.state:
            self.since = time.time()
        self.state = state
        self.reason = reason
        self._changed(self)

    @property
    def _pid_file(self) -> Path:
        return self.component.home.run / f"{self.component.name}.pid"


async def _uninterrupted(ending: Coroutine[None, None, None]) -> None:
    """Awaits to the end even if cancelled, because no other code would end the process."""
    task = asyncio.create_task(ending)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


def _how_it_ended(code: int, last_line: str) -> str:
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}" + (f": {last_line}" if last_line else "")
