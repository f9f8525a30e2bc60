"""The components of a stack."""

from pathlib import Path

import pytest

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.config.yaml_reader import ConfigurationError
from tailrace_local.stack.assembly import assemble


def components(home: Path, **environment: str) -> list:
    settings = Settings.from_environment({"HOME": "/nowhere", "TAILRACE_HOME": str(home), **environment})
    return assemble(settings, Home(home))


def names(home: Path, **environment: str) -> list[str]:
    return [component.name for component in components(home, **environment)]


def test_alerts_are_delivered_if_there_is_a_configuration(tmp_path):
    assert "delivery" not in names(tmp_path)
    (tmp_path / "alerts.yaml").write_text("")
    assert "delivery" in names(tmp_path)
    assert names(tmp_path, TAILRACE_COMPONENTS="kafka") == ["kafka"]


def test_servers_are_polled_if_the_list_contains_one(tmp_path):
    assert not {"capture", "facts"} & {*names(tmp_path)}
    (tmp_path / "sources.yaml").write_text(
        "- {instance: db-1, source: server, dsn: 'mysql://tailrace@db-1/', password_file: secret}"
    )
    assert {"capture", "facts"} <= {*names(tmp_path)}
    assert "explain" not in names(tmp_path)
    (tmp_path / "sources.yaml").write_text(
        "- {instance: db-1, source: server, dsn: 'mysql://tailrace@db-1/', explain: true}"
    )
    assert "explain" in names(tmp_path)


def test_requested_delivery_needs_its_file(tmp_path):
    (delivery,) = components(tmp_path, TAILRACE_COMPONENTS="delivery")
    with pytest.raises(ConfigurationError, match=r"alerts.yaml: cannot be read"):
        delivery.check()
