"""The completion scripts: one bash answers all cases; those of zsh and fish are checked as texts."""

import shutil
import subprocess

import pytest

from tailrace.cli.commands import completion as command
from tailrace.cli.help import catalog, completion
from tailrace_local import reference
from tailrace_local.stack.assembly import COMPONENTS

COMMANDS = catalog.everything(reference.modules())
CASES = {
    ("di",): {"digest"},
    ("alerts", "l"): {"list"},
    ("alerts", "list", "--level", ""): {"informational", "low", "medium", "high", "critical"},
    ("alerts", "list", "--level", "hi"): {"high"},
    ("status", "--output", "=", "j"): {"json"},
    ("status", "--output", "="): {"table", "json", "csv"},
    ("digest", "--order-by", "rows_e"): {"rows_examined"},
    ("digest", "--color", "al"): {"always"},
    ("digest", "--limit", ""): set(),
    ("digest", "slow"): {"slow.log", "slow.log.1"},
    ("digest", "--ord"): {"--order-by"},
    ("digest", "--html", "slow.log."): {"slow.log.1"},
    ("restart", "fl"): {"flink", "fluentbit"},
    ("logs", "superv"): {"supervisor"},
    ("up", "superv"): set(),
    ("rules", ""): {
        *("backtest", "check", "coverage", "navigator", "propose-exceptions"),
        *("push", "health", "canary", "promote"),
        *("--help", "--version"),
    },
    ("rules", "push", "r"): {"rules"},
    ("savepoint", "d"): {"detect"},
    ("completion", "z"): {"zsh"},
    ("nonsense", ""): set(),
}
HARNESS = """
compopt() { :; }
while IFS= read -r line; do
    IFS=$'\\t' read -r -a given <<< "$line"
    COMP_WORDS=(tailrace)
    for word in "${given[@]}"; do COMP_WORDS+=("${word%.}"); done
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
    _tailrace
    echo "${COMPREPLY[*]}"
done
"""


def test_bash_completes_commands_options_values_components_and_files(tmp_path):
    for name in ("slow.log", "slow.log.1"):
        (tmp_path / name).touch()
    (tmp_path / "rules").mkdir()
    script = tmp_path / "completion.bash"
    script.write_text(completion.bash(COMMANDS))
    given = "".join("\t".join(f"{word}." for word in words) + "\n" for words in CASES)
    done = subprocess.run(
        [shutil.which("bash"), "--norc", "-c", f"set -u; source {script}; {HARNESS}"],
        input=given,
        cwd=tmp_path,
        env={"PATH": "/nonexistent"},  # it starts no program
        capture_output=True,
        text=True,
    )

    assert done.stderr == ""
    answers = dict(zip(CASES, (set(line.split()) for line in done.stdout.splitlines()), strict=True))
    assert answers == CASES


def test_the_components_are_those_of_the_stack():
    assert [component.name for component in COMPONENTS] == list(completion.COMPONENTS)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish_know_every_command_and_long_option(shell, tmp_path):
    script = completion.SHELLS[shell](COMMANDS)
    for each in (each for about in COMMANDS for each in about.walk()):
        assert each.name.split()[-1] in script
        for option in each.options:
            for name in (name for name in option.names if name.startswith("--")):
                assert (name if shell == "zsh" else f"-l {name[2:]}") in script
    assert all(component in script for component in completion.COMPONENTS)
    if program := shutil.which(shell):
        file = tmp_path / f"tailrace.{shell}"
        file.write_text(script)
        checked = subprocess.run([program, "-n", file], capture_output=True, text=True)
        assert (checked.returncode, checked.stderr) == (0, "")


def test_the_command_prints_the_script_of_each_shell(capsys):
    parser = catalog.parser("completion", command)
    for shell, script in completion.SHELLS.items():
        context = type("Commands", (), {"commands": reference.modules()})
        assert command.run(parser.parse_args([shell]), context) == 0
        assert capsys.readouterr().out == script(COMMANDS)
