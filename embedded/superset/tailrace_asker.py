"""The old name of tailrace_audited_connection, which your own superset_config.py may import.

Release 0.3.0 removes it.
"""

import logging

from tailrace_audited_connection import connection

__all__ = ["connection"]

logging.getLogger(__name__).warning(
    "tailrace_asker is now called tailrace_audited_connection; release 0.3.0 removes the old name"
)
