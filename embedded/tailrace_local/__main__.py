"""`python -m tailrace_local`, which bin/tailrace executes in a source checkout."""

import sys

from tailrace.cli import java_command_line
from tailrace.config import command_line_jar
from tailrace.config.settings import Settings, SettingsError


def main() -> int:
    """Runs one command. Java commands start without the imports of the others."""
    words = sys.argv[1:]
    if java_command_line.runs(words):
        _start_if_built(words)
    from tailrace_local.cli import main as run

    return run(words)


def _start_if_built(words: list[str]) -> None:
    """Replaces this process by the JVM. Returns if the sources are not built or a setting is invalid."""
    from tailrace_local import java_build

    try:
        jar = java_build.built_jar(Settings.from_environment(), command_line_jar.NAME)
    except SettingsError:
        return
    if jar is not None:
        java_command_line.start(jar, words)


if __name__ == "__main__":
    sys.exit(main())
