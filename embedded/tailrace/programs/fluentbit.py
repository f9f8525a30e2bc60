"""Configures Fluent Bit, which tails the logs of sources.yaml and the spools, and ships to Kafka.

It uses the files of collectors/fluent-bit unchanged. These describe one server. So for each log of
sources.yaml, a copy of its source's file, such as slowlog.conf, is written with that log's names filled in.
All other values come from the environment, as in production.
"""

import hashlib
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from tailrace.config.resources import ROOT
from tailrace.programs.capture import has_snapshots
from tailrace.programs.inotify import too_few_inotify_instances
from tailrace.programs.program import Program
from tailrace.sources import active_sources
from tailrace.sources.sources_file import Source

COLLECTOR = ROOT / "collectors" / "fluent-bit"


class CollectorError(RuntimeError):
    """Fluent Bit cannot watch the logs; the message states the reason."""


class FluentBitProgram(Program):
    """Writes the configuration of `fluent-bit`."""

    name = "fluentbit"

    def is_version_1(self) -> bool:
        """Returns whether this is Fluent Bit 1, for which the files of collectors/fluent-bit are changed."""
        return False

    def joins_lines(self) -> bool:
        """Returns whether this is Tailrace's build, in which one record contains several lines."""
        return False

    def prepare(self) -> None:
        listed = active_sources.active_or_listed(self.settings, self.home)
        if findings := too_few_inotify_instances(instances_for(len(listed.logs))):
            raise CollectorError(findings[0])
        directory = self._configuration()
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        inputs = [self._write_input(directory, source) for source in listed.logs]
        outputs = [COLLECTOR / "kafka.conf"]
        if has_snapshots(self.home, listed.servers):
            outputs.append(COLLECTOR / "capture.conf")
        if self.settings.sign_logs:
            outputs.append(COLLECTOR / "signed.conf")
        included = [COLLECTOR / "service.conf", *inputs, COLLECTOR / "census.conf", *outputs]
        (directory / "tailrace.conf").write_text("".join(f"@INCLUDE {path}\n" for path in included))

    def _configuration(self) -> Path:
        return self.home.data(self.name) / "configuration"

    def _write_input(self, directory: Path, source: Source) -> Path:
        template = (COLLECTOR / f"{source.source}.conf").read_text()
        name = input_name(source)
        path = directory / f"{name}.conf"
        filled = filled_in(template, variables_of(source, name))
        adapted = for_version_1(filled) if self.is_version_1() else with_escaped_values(filled)
        path.write_text(with_joined_lines(adapted) if self.joins_lines() else adapted)
        return path


def instances_for(logs: int) -> int:
    """Returns the number of inotify instances of Fluent Bit: one for each log, and for the spools of census
    (two kinds of records) and capture."""
    return logs + 3


def input_name(source: Source) -> str:
    """Returns a unique name of the log that stays the same when the list changes: the offset file is named by
    it."""
    identity = "\0".join((source.instance, source.source, str(source.path)))
    readable = re.sub(r"[^A-Za-z0-9_.-]", "_", source.instance)
    return f"{readable}-{source.source}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def variables_of(source: Source, name: str) -> dict[str, str]:
    """Returns the variables of collectors/fluent-bit/<source>.conf for one log."""
    prefix = f"TAILRACE_{source.source.upper()}"
    return {
        "TAILRACE_CLUSTER": source.cluster,
        "TAILRACE_INSTANCE": source.instance,
        "TAILRACE_TZ": source.tz,
        f"{prefix}_NAME": name,
        f"{prefix}_PATH": str(source.path),
        f"{prefix}_FORMAT": source.format,
    }


def filled_in(template: str, variables: Mapping[str, str]) -> str:
    """Replaces `${NAME}` for these names only; Fluent Bit replaces the others."""
    return re.sub(r"\$\{(\w+)\}", lambda found: variables.get(found[1], found[0]), template)


QUOTED_VALUE = re.compile(r'^( *Record \w+ )"(.*)"$', re.MULTILINE)


def with_escaped_values(configuration: str) -> str:
    """Returns the configuration with the quotes escaped that the values of its `Record` lines contain."""
    return QUOTED_VALUE.sub(lambda line: line[1] + '"' + line[2].replace('"', r"\"") + '"', configuration)


def for_version_1(configuration: str) -> str:
    """Returns the configuration without what version 1 lacks: quoted values and truncation."""
    return re.sub(
        r"^ *Truncate_Long_Lines .*\n", "", QUOTED_VALUE.sub(r"\1\2", configuration), flags=re.MULTILINE
    )


def with_joined_lines(configuration: str) -> str:
    """Returns the configuration of an input whose records contain several lines (Tailrace's build only)."""
    return configuration.replace("[INPUT]\n", "[INPUT]\n    Join_Lines        On\n")
