"""`python -m tailrace`, which bin/tailrace executes."""

import sys

from tailrace.cli import main

sys.exit(main())
