"""`make clean-data`: the removed and the kept files of the home directory."""

import os
import subprocess

from tailrace.config.resources import REPOSITORY

KEPT = {"sources.yaml", "keys"}
"""The list of logs, and the public keys of other hosts."""


def test_clean_data_leaves_nothing_that_depends_on_a_removed_key(tmp_path):
    """A witness refuses the transparency log of a new key for the same origin permanently."""
    for name in ("data", "demo", "keys", "logs", "run", "secrets", "transparency", "watch", "witness"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
    (tmp_path / "sources.yaml").write_text("[]\n")
    environment = {**os.environ, "TAILRACE_HOME": str(tmp_path)}
    subprocess.run(["make", "clean-data"], cwd=REPOSITORY, env=environment, check=True, capture_output=True)

    assert {path.name for path in tmp_path.iterdir()} == KEPT
