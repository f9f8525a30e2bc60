"""The tutorial on the command line: its commands run, and print what the page shows."""

import os
import re
import subprocess

from tailrace.config.resources import REPOSITORY

PAGE = REPOSITORY / "docs" / "tutorials" / "slow-log.md"
BLOCK = re.compile(r"^```(sh|)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_slow_log_tutorial_shows_what_its_commands_print(tmp_path):
    printed, shown = "", 0
    for language, content in BLOCK.findall(PAGE.read_text()):
        if language == "sh":
            ran = subprocess.run(
                ["bash", "-euc", content],
                cwd=REPOSITORY,
                env={**os.environ, "TAILRACE_HOME": str(tmp_path), "COLUMNS": "120", "TZ": "UTC"},
                capture_output=True,
                text=True,
            )
            assert ran.returncode == 0, ran.stderr
            printed = ran.stdout
        else:
            for line in content.splitlines():
                assert line in printed, f"{line!r} is not in the output:\n{printed}"
                shown += 1
    assert shown >= 9
