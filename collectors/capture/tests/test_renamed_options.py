"""Options work under their old names, with a warning; an old and a new name together are an error."""

import pytest

from tailrace_capture import __main__ as capture
from tailrace_capture.renamed_options import NEW_NAMES

OLD = ("--beat", "--most", "--threads-running")
WORDS = ("explain", "--samples", "samples.jsonl")


@pytest.mark.parametrize("old", OLD)
def test_an_old_option_works_with_a_warning(old, monkeypatch, capsys):
    given = []
    monkeypatch.setattr(capture, "_explain", lambda arguments: given.append(vars(arguments)) or 0)
    new = NEW_NAMES[old]

    assert capture.main([*WORDS, new, "7"]) == 0
    assert "is now called" not in capsys.readouterr().out
    for words in ([old, "7"], [f"{old}=7"]):
        assert capture.main([*WORDS, *words]) == 0
        shown = capsys.readouterr()
        warning = f"{old} is now called {new}; release 0.3.0 removes the old name"
        assert (shown.out + shown.err).count(warning) == 1

    assert given[0] == given[1] == given[2]
    assert str(given[0][new[2:].replace("-", "_")]) == "7"


@pytest.mark.parametrize("old", OLD)
def test_an_old_option_beside_the_new_one_is_refused(old, capsys):
    with pytest.raises(SystemExit) as ended:
        capture.main([*WORDS, old, "7", NEW_NAMES[old], "7"])

    assert ended.value.code == 2
    assert f"{old} is the old name of {NEW_NAMES[old]}, and both are given" in capsys.readouterr().err


def test_help_contains_new_options_only(capsys):
    with pytest.raises(SystemExit):
        capture.main(["explain", "--help"])

    shown = {word.strip("[]") for word in capsys.readouterr().out.split()}
    assert shown >= set(NEW_NAMES.values())
    assert not shown & {*OLD, *NEW_NAMES}
