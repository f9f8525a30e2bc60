"""What the launcher tells the JVM."""

import pytest

from tailrace import jobs, jvm
from tailrace.commands import Context, java
from tailrace.home import Home
from tailrace.settings import Settings


def test_compressed_files_count_as_what_they_unfold_to(tmp_path):
    plain, packed = tmp_path / "slow.log", tmp_path / "slow.log.1.zst"
    plain.write_bytes(b"x" * 1000)
    packed.write_bytes(b"x" * 10)
    assert jvm._input_bytes(["digest", str(plain), str(packed)]) == 1000 + 10 * jvm.COMPRESSION


def test_words_that_are_no_files_count_nothing(tmp_path):
    log = tmp_path / "slow.log"
    log.write_bytes(b"x" * 1000)
    too_long_for_a_name = "user=app and " * 1000
    words = ["digest", "--filter", too_long_for_a_name, str(tmp_path), str(log)]
    assert jvm._input_bytes(words) == 1000


@pytest.mark.parametrize("words", [["fingerprint"], ["digest", "-"], ["parse", "--json", "-"]])
def test_standard_input_may_be_long(words):
    assert jvm._input_bytes(words) == jvm.LITTLE_INPUT


def test_help_reads_nothing():
    assert jvm._input_bytes(["digest", "--help"]) == 0


def test_what_is_built_first_is_not_told_on_standard_output(tmp_path, capsys, monkeypatch):
    settings = Settings.from_environment({"HOME": str(tmp_path), "TAILRACE_HOME": str(tmp_path / "home")})
    monkeypatch.setattr(jobs, "build", lambda _, progress: progress.say("building"))
    java._build(Context(settings, Home(settings.home)))
    out, err = capsys.readouterr()
    assert not out and "building" in err
