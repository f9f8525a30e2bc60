"""The files of the demo in a home directory: watched logs, the spools of census and snapshots, and the
manifest."""

import json
import time
from pathlib import Path
from typing import Any

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.demo.shop import censuses, snapshots
from tailrace.demo.shop.log import Log
from tailrace.demo.shop.servers import LOG_FILES
from tailrace.demo.shop.story import Story
from tailrace.programs import census
from tailrace.programs.capture import spool_of
from tailrace.sources import sources_file
from tailrace.sources.sources_file import Source

GAP = "gap"
"""The story of an audit log that lacks some entries at first."""


def watched(home: Home, log: Log) -> Source:
    """Returns the log as sources.yaml lists it: watch/<instance>/<slow, audit or error>.log."""
    return Source(log.instance, log.source, home.watch / log.instance / LOG_FILES[log.source], log.cluster)


def watch(settings: Settings, home: Home, story: Story) -> bool:
    """Adds the logs to sources.yaml; returns whether the file changed. Raises SourcesError."""
    sources_file.make_empty(settings.sources)
    listed = sources_file.load(settings.sources)
    missing = [source for source in (watched(home, log) for log in story.logs) if source not in listed]
    if missing:
        sources_file.add(settings.sources, missing)
    return bool(missing)


def write_logs(home: Home, story: Story) -> int:
    """Writes all logs; a log with the gap ends where the gap begins. Returns the bytes."""
    gap = story.manifest["stories"].get(GAP)
    written = 0
    for log in story.logs:
        end = gap["from_offset"] if gap and _has_gap(log, gap) else len(log.content)
        path = watched(home, log).path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(log.content[:end])
        written += end
    return written


def write_rest(home: Home, story: Story) -> None:
    """Appends the entries of the gap and all after it."""
    gap = story.manifest["stories"][GAP]
    log = log_with_gap(story)
    with watched(home, log).path.open("ab") as file:
        file.write(log.content[gap["from_offset"] :])


def write_censuses(home: Home, story: Story) -> None:
    """Writes the census of the two days, for logs that are written.

    If lines of a log are still missing, its size and the time since which it has not grown seem to show that
    the collector has lost them: the repair would ship them.
    """
    spool = census.spool_of(home)
    spool.mkdir(mode=0o700, parents=True, exist_ok=True)
    at = time.gmtime(story.times.now)
    for log in story.logs:
        lines = censuses.lines(log, watched(home, log).path, story.times)
        with (spool / time.strftime(f"census-{log.source}-%Y%m%dT%H%M%S.jsonl", at)).open("a") as file:
            file.write("".join(f"{line}\n" for line in lines))


def log_with_gap(story: Story) -> Log:
    gap = story.manifest["stories"][GAP]
    return next(log for log in story.logs if _has_gap(log, gap))


def _has_gap(log: Log, gap: dict[str, Any]) -> bool:
    return (log.instance, log.source) == (gap["instance"], gap["source"])


def write_snapshots(home: Home, story: Story) -> None:
    spool = spool_of(home)
    spool.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = "".join(f"{line}\n" for line in snapshots.lines(story.times))
    (spool / f"snapshots-demo-{story.times.now}.jsonl").write_text(lines)


def manifest_file(home: Home) -> Path:
    return home.root / "demo" / "manifest.json"


def save_manifest(home: Home, manifest: dict[str, Any]) -> None:
    """Writes the manifest when everything is fed: its existence means that the demo is not fed again."""
    file = manifest_file(home)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_text(json.dumps(manifest, indent=2) + "\n")


def load_manifest(home: Home) -> dict[str, Any] | None:
    """Returns the manifest of the demo that was fed into this home, None if there is none."""
    file = manifest_file(home)
    return json.loads(file.read_text()) if file.exists() else None
