"""The supervisor: the process that owns all components, and the only one that starts or stops them.

- There is one per home directory, which it locks for as long as it runs.
- It starts components in the order of their needs, restarts crashed ones, and stops them in reverse order on
  SIGTERM, SIGINT or a `stop` on its control socket.
- It watches sources.yaml: when the content of the list changes, it restarts the components that read it, the
  census before Fluent Bit, starts those that have work now, and stops those without work.
- It leaves no processes behind: each component is its own process group, killed as a unit; orphans of
components
  become children of the supervisor (a subreaper) and are ended with it; and if it is itself killed, even by
  SIGKILL, the kernel kills the components (see launch.py).
"""

import asyncio
import contextlib
import ctypes
import fcntl
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tailrace.config.home import Home
from tailrace.config.settings import PREFIX, Settings
from tailrace.errors import ReportedError
from tailrace.plural import counted
from tailrace.sources import log_files
from tailrace.sources.sources_file import Listed
from tailrace.unix_socket import short_path
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local.supervisor import control, procfs
from tailrace_local.supervisor.component import Component
from tailrace_local.supervisor.control import ComponentStatus, StackStatus
from tailrace_local.supervisor.list_watch import ListWatch
from tailrace_local.supervisor.logfile import RotatingLog
from tailrace_local.supervisor.process_manager import ProcessManager, RestartBackoff, State

PR_SET_CHILD_SUBREAPER = 36
REAP_SECONDS = 5.0
LAST_ANSWER_SECONDS = 2.0


class AlreadyRunningError(ReportedError):
    """Another supervisor holds the lock of this home directory."""


class Supervisor:
    """Keeps components running until it is stopped.

    `assemble` returns the components for the active list of sources, in any order; it is called at the start
    and when another list becomes active.
    """

    def __init__(
        self,
        assemble: Callable[[], Sequence[Component]],
        settings: Settings,
        home: Home,
        restart_backoff: RestartBackoff | None = None,
    ) -> None:
        self._settings = settings
        self._home = home
        self._restart_backoff = restart_backoff or RestartBackoff(maximum=settings.restart_backoff_max)
        self._since = time.time()
        self._log = self._open_log("supervisor")
        self._stop_asked = asyncio.Event()
        self._stopped = asyncio.Event()
        self._changed = asyncio.Condition()
        self._change = 0
        self._answers: set[asyncio.Task] = set()
        self._zombies: set[int] = set()
        self._assemble = assemble
        self._managers: dict[str, ProcessManager] = {}
        self._list = ListWatch(settings, home)
        self._taking_list = asyncio.Lock()

    async def run(self) -> None:
        """Starts all components; returns when all have ended. Raises AlreadyRunningError."""
        with _locked(self._home):
            _become_subreaper()
            self._stop_on_signals()
            self._list.start()
            self._log_sources_error("")
            self._place(self._assemble())
            self._write_log(f"supervisor {os.getpid()} starts {', '.join(self._managers)}")
            async with await self._listen():
                helpers = [asyncio.create_task(each) for each in (self._reap_adopted(), self._watch_list())]
                for manager in self._managers.values():
                    manager.start()
                await self._stop_asked.wait()
                async with self._taking_list:
                    await self._stop_components()
                for helper in helpers:
                    helper.cancel()
                _end_adopted_children()
                self._write_log("supervisor ends; every component has ended")
                await self._send_last_responses()
            (self._home.run / control.SOCKET).unlink(missing_ok=True)

    def _place(self, components: Sequence[Component]) -> None:
        """Ensures a process manager for each of the components, and keeps existing ones."""
        before, self._managers = self._managers, {}
        for component in in_order(components):
            self._managers[component.name] = before.get(component.name) or self._manager(component)

    def _manager(self, component: Component) -> ProcessManager:
        return ProcessManager(
            component,
            needs=[self._managers[need] for need in component.needs if need in self._managers],
            log=self._open_log(component.name),
            environment={**_inherited_environment(), **local_clickhouse.environment(self._home)},
            changed=self._on_change,
            restart_backoff=RestartBackoff(
                self._restart_backoff.first, self._restart_backoff.maximum, self._restart_backoff.stable
            ),
        )

    def _open_log(self, name: str) -> RotatingLog:
        return RotatingLog(self._home.log(name), self._settings.log_bytes, self._settings.log_files)

    def _stop_on_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop_asked.set)

    async def _stop_components(self) -> None:
        """Stops each component as soon as those that need or feed it have ended; others in parallel."""
        stops: dict[str, asyncio.Task] = {}
        for name, manager in reversed(self._managers.items()):
            after = [stops[other] for other in self._stopped_before(name)]
            stops[name] = asyncio.create_task(_stop_after(manager, after))
        await asyncio.gather(*stops.values())

    def _stopped_before(self, name: str) -> list[str]:
        return [
            other
            for other, k in self._managers.items()
            if name in k.component.needs or name in k.component.feeds
        ]

    async def _listen(self) -> asyncio.Server:
        (self._home.run / control.SOCKET).unlink(missing_ok=True)
        with short_path(control.socket_of(self._home)) as path:
            return await asyncio.start_unix_server(self._serve, path)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            while line := await reader.readline():
                answer = asyncio.create_task(self._answer(json.loads(line), writer))
                self._answers.add(answer)
                answer.add_done_callback(self._answers.discard)
                await answer
        writer.close()

    async def _answer(self, request: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        match request:
            case {"op": "status"}:
                await _send(writer, self.status().to_json())
            case {"op": "follow"}:
                await self._follow(writer)
            case {"op": "restart" | "stop" | "start" as order, "part": name}:
                await _send(writer, await self._order(order, name))
            case {"op": "take-list"}:
                await _send(writer, await self._take_list())
            case {"op": "logs"}:
                await _send(writer, await self._logs())
            case {"op": "end"}:
                self._stop_asked.set()
                await self._stopped.wait()
                await _send(writer, {"done": True})
            case _:
                await _send(writer, {"error": f"unknown request {request}"})

    async def _order(self, order: str, name: str) -> dict[str, Any]:
        fresh = await self._poll_list(immediately=True) if order != "stop" else []
        async with self._taking_list:
            manager = self._managers.get(name)
            if self._stop_asked.is_set():
                return {"error": "the stack is being stopped"}
            if manager is None:
                return {"error": f"there is no component {name}; there are {', '.join(self._managers)}"}
            self._write_log(f"{name}: {order} was requested")
            if order != "start" and name not in fresh:
                await manager.stop()
            if order != "stop":
                manager.start()
            return {"done": True}

    async def _watch_list(self) -> None:
        pause = self._settings.sources_poll_interval
        while pause:
            await asyncio.sleep(pause)
            await self._poll_list(immediately=False)

    async def _poll_list(self, immediately: bool) -> list[str]:
        """Activates a changed list; returns the components that were restarted or started."""
        async with self._taking_list:
            if self._stop_asked.is_set():
                return []
            logged = self._list.problem
            before = await asyncio.to_thread(self._list.poll, immediately)
            self._log_sources_error(logged)
            return [] if before is None else await self._apply_list(before)

    async def _apply_list(self, before: Listed) -> list[str]:
        now = self._list.active
        self._write_log(
            f"another list of sources is active: {counted(len(now.logs), 'log')}, "
            f"{counted(len(now.servers), 'server')}"
        )
        kept, old = self._managers, set(self._managers)
        self._place(self._assemble())
        for name in old - set(self._managers):
            await kept[name].stop()
        changed = [k for k in self._managers.values() if k.component.reads(now) != k.component.reads(before)]
        restarted = [manager for manager in changed if manager.is_kept]
        for manager in restarted:
            await manager.stop()
            manager.start()
        started = [manager for name, manager in self._managers.items() if name not in old]
        for manager in started:
            manager.start()
        return [manager.component.name for manager in (*restarted, *started)]

    def _log_sources_error(self, logged: str) -> None:
        if self._list.problem and self._list.problem != logged:
            self._write_log(f"the active list stays: {self._list.problem}")

    async def _take_list(self) -> dict[str, Any]:
        restarted = await self._poll_list(immediately=True)
        return {"done": True, "restarted": restarted, "problem": self._list.problem}

    async def _logs(self) -> dict[str, Any]:
        states = [await asyncio.to_thread(log_files.inspect, log) for log in self._list.active.logs]
        return {"logs": [state.to_json() for state in states]}

    async def _follow(self, writer: asyncio.StreamWriter) -> None:
        while not self._stopped.is_set():
            seen = self._change
            await _send(writer, self.status().to_json())
            async with self._changed:
                await self._changed.wait_for(lambda seen=seen: self._change != seen or self._stopped.is_set())
        writer.close()

    def status(self) -> StackStatus:
        """Returns the current state of every component."""
        pids = {manager.pid for manager in self._managers.values() if manager.pid}
        usage = procfs.group_usage(pids)
        nothing = procfs.Usage(0, 0.0)
        components = tuple(_part_status(k, usage.get(k.pid or 0, nothing)) for k in self._managers.values())
        return StackStatus(
            pid=os.getpid(), since=self._since, components=components, sources_error=self._list.problem
        )

    def _on_change(self, manager: ProcessManager) -> None:
        detail = f" ({manager.reason})" if manager.reason else ""
        process = f", pid {manager.pid}" if manager.pid else ""
        self._write_log(f"{manager.component.name}: {manager.state}{detail}{process}")
        self._change += 1
        asyncio.get_running_loop().create_task(self._notify_followers())

    async def _send_last_responses(self) -> None:
        self._stopped.set()
        await self._notify_followers()
        if self._answers:
            await asyncio.wait(self._answers, timeout=LAST_ANSWER_SECONDS)

    async def _notify_followers(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _reap_adopted(self) -> None:
        """Reaps orphans of components, but not a component's main process, for which asyncio waits."""
        while True:
            await asyncio.sleep(REAP_SECONDS)
            zombies = set()
            if _has_zombie():
                zombies = {child.pid for child in procfs.children(os.getpid()) if child.is_zombie}
            for pid in zombies & self._zombies:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            self._zombies = zombies

    def _write_log(self, event: str) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._log.write(f"{now} {event}\n".encode())


@contextlib.contextmanager
def _locked(home: Home) -> Iterator[None]:
    with (home.run / "supervisor.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunningError(
                f"a stack is already running in {home.root}; see: tailrace status"
            ) from None
        yield


def is_locked(home: Home) -> bool:
    """Returns whether a supervisor of this home directory is alive, even if it no longer responds."""
    try:
        with _locked(home):
            return False
    except AlreadyRunningError:
        return True


def in_order(components: Sequence[Component]) -> list[Component]:
    """Returns the components, each after those that it needs or feeds, otherwise in the given order. Absent
    ones count as external services. Raises ValueError for a cycle."""
    waiting = list(components)
    names = {component.name for component in components}
    placed: list[Component] = []
    while waiting:
        done = {component.name for component in placed}
        ready = next(
            (
                component
                for component in waiting
                if names.intersection(component.needs + component.feeds) <= done
            ),
            None,
        )
        if ready is None:
            raise ValueError(f"components need each other in a cycle: {', '.join(p.name for p in waiting)}")
        waiting.remove(ready)
        placed.append(ready)
    return placed


async def _stop_after(manager: ProcessManager, others: list[asyncio.Task]) -> None:
    if others:
        await asyncio.wait(others)
    await manager.stop()


async def _send(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    writer.write(json.dumps(message).encode() + b"\n")
    await writer.drain()


def _part_status(manager: ProcessManager, usage: procfs.Usage) -> ComponentStatus:
    return ComponentStatus(
        name=manager.component.name,
        state=str(manager.state),
        reason="" if manager.state is State.HEALTHY else manager.reason,
        last_failure=manager.last_failure,
        pid=manager.pid,
        restarts=manager.restarts,
        recent_restarts=manager.recent_restarts,
        since=manager.since,
        address=manager.component.address(),
        version=manager.version,
        rss_bytes=usage.rss_bytes,
        cpu_seconds=round(usage.cpu_seconds, 2),
    )


def _inherited_environment() -> dict[str, str]:
    """Returns the environment of the components: without our settings and variables of our Python."""
    ours = ("PYTHONPATH",)
    return {
        name: text for name, text in os.environ.items() if not name.startswith(PREFIX) and name not in ours
    }


def _become_subreaper() -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot adopt orphaned processes")


def _has_zombie() -> bool:
    """Returns whether a child has ended and waits to be reaped. It reads no other process of the machine."""
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False


def _end_adopted_children() -> None:
    for child in procfs.children(os.getpid()):
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)
