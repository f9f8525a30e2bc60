"""Detects changes of sources.yaml, and activates the new list."""

from pathlib import Path

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.programs import inotify
from tailrace.sources import active_sources, sources_file
from tailrace.sources.sources_file import Listed, SourcesError


class ListWatch:
    """The list and its active copy. An invalid list leaves the copy unchanged."""

    def __init__(self, settings: Settings, home: Home) -> None:
        self._file: Path = settings.sources
        self._home = home
        self._evaluated: bytes | None = None
        self._seen: bytes | None = None
        self.problem = ""
        """The reason why the list is not active; empty if it is."""
        self.active = Listed()

    def start(self) -> None:
        """Activates the list before any component is started; an invalid one leaves the previous list
        active."""
        self.active = active_sources.active(self._home).listed
        self._put(self._usable(self._read()) or self.active)

    def poll(self, immediately: bool) -> Listed | None:
        """Returns the previously active list if another one was activated; otherwise None.

        A change is applied only after two polls with the same content, unless `immediately`: a partly written
        file may be a valid list too.
        """
        content = self._read()
        settled = immediately or content == self._seen
        self._seen = content
        if not settled or (content == self._evaluated and not immediately):
            return None
        before, usable = self.active, self._usable(content)
        if usable is None or usable.means(before) or not self._has_room(usable) or not self._put(usable):
            return None
        return before

    def _put(self, listed: Listed) -> bool:
        try:
            self.active = active_sources.activate(self._home, listed).listed
        except OSError as error:
            self._evaluated = None  # the next poll tries again
            self.problem = f"{self._file}: no copy of it can be written: {error}"
            return False
        return True

    def _usable(self, content: bytes | None) -> Listed | None:
        self._evaluated = content
        try:
            if content is None:
                raise SourcesError(f"{self._file}: cannot be read")
            listed = sources_file.parse(self._file, content)
        except SourcesError as error:
            self.problem = str(error)
            return None
        self.problem = ""
        return listed

    def _has_room(self, listed: Listed) -> bool:
        """Returns whether Fluent Bit could restart with these logs: otherwise none would be read."""
        more = len(listed.logs) - len(self.active.logs)
        findings = inotify.too_few_inotify_instances(more) if more > 0 else []
        self.problem = f"{self._file}: {findings[0]}" if findings else ""
        return not findings

    def _read(self) -> bytes | None:
        try:
            return self._file.read_bytes()
        except OSError:
            return None
