"""Writes logs for some time: `python -m e2e.workload DIRECTORY --seconds 60 --rate 200 --seed 1`.

In addition to the logs, the directory gets sources.yaml for TAILRACE_SOURCES and manifest.json.
"""

import argparse
from pathlib import Path
from threading import Event, Timer

from e2e.workload import manifest
from e2e.workload.writer import Workload


def main() -> None:
    options = _options()
    workload = Workload(options.directory, options.seed)
    (options.directory / "sources.yaml").write_text("".join(_sources_of(workload)))
    stopped = Event()
    Timer(options.seconds, stopped.set).start()
    workload.run(options.rate, stopped)
    manifest.save(options.directory / "manifest.json", workload.manifests)


def _sources_of(workload: Workload):
    for log in workload.logs:
        yield (
            f"- {{instance: {log.instance}, cluster: {log.cluster}, source: {log.shape.source}, "
            f"path: {log.path.resolve()}, tz: {log.shape.tz}}}\n"
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="workload", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--seconds", type=float, default=60, help="how long to write (default: 60)")
    parser.add_argument("--rate", type=float, default=200, help="entries per second (default: 200)")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
