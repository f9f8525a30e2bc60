"""The old name of tailrace_superset_patches, which your own superset_config.py may import.

Release 0.3.0 removes it.
"""

import logging

from tailrace_superset_patches import apply_patches

__all__ = ["apply_patches", "quicken"]

quicken = apply_patches

logging.getLogger(__name__).warning(
    "tailrace_speed is now called tailrace_superset_patches; release 0.3.0 removes the old name"
)
