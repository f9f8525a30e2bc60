"""`python -m tailrace`: the command line, with the commands of every installed package."""

import sys

from tailrace.cli import java_command_line


def main() -> int:
    """Runs one command. Java commands start without the imports of the others."""
    words = sys.argv[1:]
    if java_command_line.runs(words):
        java_command_line.start_if_installed(words)
    from tailrace.cli.main import main as run

    return run(words)


if __name__ == "__main__":
    sys.exit(main())
