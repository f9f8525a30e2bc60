"""`python -m tailrace`, which bin/tailrace executes."""

import sys

from tailrace import jvm


def main() -> int:
    """Runs one command. Those of the JVM do without what the others import."""
    words = sys.argv[1:]
    if jvm.runs(words):
        jvm.start_if_built(words)
    from tailrace import cli

    return cli.main(words)


if __name__ == "__main__":
    sys.exit(main())
