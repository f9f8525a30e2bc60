"""The census component's record of logs that were removed from the list, and its effect on health metrics."""

import time
from pathlib import Path

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.health import metrics as health_metrics
from tailrace.programs import census as census_program
from tailrace_local.components.census import Census


def prepared(home: Path, *instances: str) -> dict[tuple[str, str], float]:
    """Returns the recorded logs after the census starts with the slow logs of these servers."""
    entries = [f"- {{instance: {name}, source: slowlog, path: /logs/{name}.log}}\n" for name in instances]
    (home / "sources.yaml").write_text("".join(entries))
    settings = Settings.from_environment({"HOME": "/nowhere", "TAILRACE_HOME": str(home)})
    Census(settings, Home(home)).prepare()
    return census_program.left(Home(home))


def test_a_removed_log_is_recorded_until_it_is_listed_again(tmp_path):
    assert census_program.left(Home(tmp_path)) == {}
    assert prepared(tmp_path, "db-1", "db-2") == {}
    before = time.time()
    found = prepared(tmp_path, "db-1")
    assert found.keys() == {("db-2", "slowlog")}
    assert before <= found["db-2", "slowlog"] <= time.time()
    assert prepared(tmp_path, "db-1") == found  # another start keeps the time
    assert prepared(tmp_path).keys() == {("db-1", "slowlog"), ("db-2", "slowlog")}
    assert prepared(tmp_path, "db-2").keys() == {("db-1", "slowlog")}


def test_a_log_that_another_collector_watches_does_not_count_as_removed():
    left = {("gone", "slowlog"): 100.0, ("moved", "slowlog"): 100.0}
    newest = {("gone", "slowlog"): 99.0, ("moved", "slowlog"): 101.0, ("died", "slowlog"): 50.0}
    assert health_metrics.removed_sources(newest, left) == {("gone", "slowlog"): 100.0}
