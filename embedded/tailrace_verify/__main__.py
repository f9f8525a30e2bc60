"""`python -m tailrace_verify BUNDLE`."""

import sys

from tailrace_verify.command import main


def entry() -> int:
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(entry())
