"""The launcher's options for the JVM."""

import pytest

from tailrace.cli import java_command_line
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace_local import java_build
from tailrace_local.commands import java
from tailrace_local.context import LocalContext


def test_compressed_files_count_with_their_uncompressed_size(tmp_path):
    plain, packed = tmp_path / "slow.log", tmp_path / "slow.log.1.zst"
    plain.write_bytes(b"x" * 1000)
    packed.write_bytes(b"x" * 10)
    assert (
        java_command_line._input_bytes(["digest", str(plain), str(packed)])
        == 1000 + 10 * java_command_line.COMPRESSION
    )


def test_words_that_are_no_files_count_nothing(tmp_path):
    log = tmp_path / "slow.log"
    log.write_bytes(b"x" * 1000)
    too_long_for_a_name = "user=app and " * 1000
    words = ["digest", "--filter", too_long_for_a_name, str(tmp_path), str(log)]
    assert java_command_line._input_bytes(words) == 1000


@pytest.mark.parametrize("words", [["fingerprint"], ["digest", "-"], ["parse", "--json", "-"]])
def test_standard_input_may_be_long(words):
    assert java_command_line._input_bytes(words) == java_command_line.LITTLE_INPUT


def test_help_reads_nothing():
    assert java_command_line._input_bytes(["digest", "--help"]) == 0


def test_the_output_of_a_build_is_not_on_standard_output(tmp_path, capsys, monkeypatch):
    settings = Settings.from_environment({"HOME": str(tmp_path), "TAILRACE_HOME": str(tmp_path / "home")})
    monkeypatch.setattr(java_build, "build", lambda _, progress: progress.report("building"))
    java._build(LocalContext(settings, Home(settings.home)))
    out, err = capsys.readouterr()
    assert not out and "building" in err
