"""Backups of a home directory: complete or refused; a restore moves the old content aside."""

import json
from pathlib import Path

import pytest

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.erasure import vault
from tailrace.signing import local_key
from tailrace_local import backup
from tailrace_local.backup import MANIFEST, BackupError


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    (home.data("kafka") / "log").write_text("lines")
    (home.data("kafka") / "newest").symlink_to("log")
    home.secret("clickhouse-admin")
    (home.root / "sources.yaml").write_text("[]")
    home.log("kafka").write_text("noise")
    (home.run / "kafka.pid").write_text("1")
    return home


def test_restore_brings_back_the_backup_and_moves_the_old_content_aside(home, tmp_path):
    secret = home.secret("clickhouse-admin")
    made = backup.make(home, tmp_path / "saved")
    (home.data("kafka") / "log").write_text("later lines")
    home.secret_file("clickhouse-admin").unlink()

    restored, aside = backup.restore(home, tmp_path / "saved")

    assert restored == made
    assert (home.data("kafka") / "newest").read_text() == "lines"
    assert home.secret("clickhouse-admin") == secret
    assert home.secret_file("clickhouse-admin").stat().st_mode & 0o777 == 0o600
    assert (aside / "data" / "kafka" / "log").read_text() == "later lines"
    assert not (home.root / MANIFEST).exists()
    assert not (tmp_path / "saved" / "logs").exists()


def test_refuses_to_guess_where_the_names_are(home, tmp_path):
    home.secret_file(vault.PSEUDONYM_KEY)
    backup.make(home, tmp_path / "without ClickHouse")
    (home.root / backup.STORE).mkdir(parents=True)
    with pytest.raises(BackupError, match="vault of names is not where"):
        backup.make(home, tmp_path / "saved")
    assert not (tmp_path / "saved").exists()
    backup.make(home, tmp_path / "saved", with_names=True)


def test_after_a_restore_the_census_signs_with_another_key(home, tmp_path):
    """The numbers of the restored state were used for other records since."""
    settings = Settings.from_environment({"TAILRACE_HOME": str(home.root)})
    key = local_key.of_census(home, settings)
    before = key.ensure()
    (home.secrets / f"{key.file.name}{local_key.USED}").write_text(before.id)
    (home.data("census") / "signing.json").write_text(json.dumps({"key": before.id}))
    backup.make(home, tmp_path / "saved")
    assert key.ensure() == before
    backup.restore(home, tmp_path / "saved")
    assert key.ensure().replaces == before.id


def test_a_second_restore_keeps_the_content_moved_aside_by_the_first(home, tmp_path):
    backup.make(home, tmp_path / "saved")
    _, first = backup.restore(home, tmp_path / "saved")
    _, second = backup.restore(home, tmp_path / "saved")
    assert first.exists()
    assert second.exists()
    assert first != second


def test_an_interrupted_backup_is_refused(home, tmp_path):
    backup.make(home, tmp_path / "saved")
    (tmp_path / "saved" / MANIFEST).unlink()
    with pytest.raises(BackupError, match="is no backup, or an interrupted one"):
        backup.restore(home, tmp_path / "saved")
    assert (home.data("kafka") / "log").read_text() == "lines"


def test_an_incomplete_backup_is_refused(home, tmp_path):
    backup.make(home, tmp_path / "saved")
    (tmp_path / "saved" / "data" / "kafka" / "log").unlink()
    with pytest.raises(BackupError, match=r"is incomplete: 4 files .* were written, 3 of"):
        backup.restore(home, tmp_path / "saved")


def test_a_backup_belongs_to_one_home_directory(home, tmp_path):
    backup.make(home, tmp_path / "saved")
    with pytest.raises(BackupError, match=f"is a backup of {home.root}; set TAILRACE_HOME to that"):
        backup.restore(Home(tmp_path / "elsewhere"), tmp_path / "saved")


@pytest.mark.parametrize("name", ["home/data/backup", "."])
def test_a_backup_needs_an_empty_directory(home, tmp_path, name):
    with pytest.raises(BackupError):
        backup.make(home, (tmp_path / name).resolve())


def test_a_backup_without_enough_space_changes_nothing(home, tmp_path, monkeypatch):
    made = backup.make(home, tmp_path / "saved")
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": made.bytes - 1}))
    with pytest.raises(BackupError, match=f"has {made.bytes - 1} bytes free, {made.bytes} are needed"):
        backup.restore(home, tmp_path / "saved")
    assert json.loads((tmp_path / "saved" / MANIFEST).read_text())["files"] == made.files
    assert (home.data("kafka") / "log").exists()
