"""Installation: in parallel, logged, into complete or absent cache entries."""

from pathlib import Path

import pytest

from fake_stack import FakeComponent
from tailrace.config.content_hash import fingerprint
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace_local.supervisor import cache
from tailrace_local.supervisor.component import InstallError
from tailrace_local.supervisor.install import install_missing


class InstallablePart(FakeComponent):
    """Its installation is a shell script."""

    script = "echo made > made"

    def installed(self) -> bool:
        return self.entry().exists()

    def install(self, progress) -> None:
        progress.report("making it")
        with cache.build(self.entry()) as draft:
            progress.run(["sh", "-c", self.script], cwd=draft)

    def entry(self) -> Path:
        return self.settings.cache / self.name / "0123"


@pytest.fixture
def make(tmp_path):
    def component(name: str, script: str) -> InstallablePart:
        made = InstallablePart(name, (), Settings(home=tmp_path, cache=tmp_path / "cache"), Home(tmp_path))
        made.script = script
        return made

    return component


def test_installs_missing_components_and_reports_it(make, tmp_path):
    component = make("one", "echo made > made")
    steps: list[tuple[str, str]] = []
    install_missing([component], Home(tmp_path), lambda who, what: steps.append((who, what)))

    assert (component.entry() / "made").read_text() == "made\n"
    assert steps == [("one", "making it"), ("one", "installed in 0 s")]


def test_does_nothing_the_second_time(make, tmp_path):
    component = make("one", "true")
    install_missing([component], Home(tmp_path), lambda *_: None)
    steps: list[str] = []
    install_missing([component], Home(tmp_path), lambda _, what: steps.append(what))

    assert steps == []


def test_a_failure_leaves_no_entry_and_shows_the_last_lines(make, tmp_path):
    component = make("one", "touch half; echo the reason; exit 7")
    with pytest.raises(InstallError) as failed:
        install_missing([component], Home(tmp_path), lambda *_: None)

    assert "one could not be installed" in str(failed.value)
    assert "failed (7):\n    " in str(failed.value)
    assert "the reason" in str(failed.value)
    assert list(component.entry().parent.glob("*[!k]")) == []


def test_one_failure_does_not_stop_the_others_and_all_are_reported(make, tmp_path):
    components = [make("bad", "exit 1"), make("good", "true"), make("worse", "exit 2")]
    with pytest.raises(InstallError, match=r"(?s)bad could not.*worse could not"):
        install_missing(components, Home(tmp_path), lambda *_: None)

    assert components[1].installed()


def test_a_missing_program_is_reported(make, tmp_path, monkeypatch):
    component = make("one", "true")
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(InstallError, match="there is no program sh"):
        install_missing([component], Home(tmp_path), lambda *_: None)


def test_an_interrupted_venv_is_made_again(tmp_path):
    entry = tmp_path / "venv"
    with pytest.raises(KeyboardInterrupt), cache.build_in_place(entry) as place:
        (place / "half").touch()
        raise KeyboardInterrupt
    assert not cache.is_complete(entry)

    with cache.build_in_place(entry) as place:
        assert not (place / "half").exists()
    assert cache.is_complete(entry)


def test_a_fingerprint_changes_with_any_piece(tmp_path):
    file = tmp_path / "lock"
    file.write_text("a")
    before = fingerprint(file, "x")
    file.write_text("b")

    after = {fingerprint(file, "x"), fingerprint(file, "y"), fingerprint("b", "x")}
    assert len({before} | after) == 3
