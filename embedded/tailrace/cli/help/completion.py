"""Generates the completion scripts of shells from the help of all commands.

A script contains a table of words for each command line; it starts no program, so that the TAB key answers
at once also while no stack runs."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from tailrace.cli.help import model
from tailrace.cli.help.model import CommandHelp, Value

COMPONENTS = (
    *("kafka", "clickhouse", "flink", "detect", "census", "pull", "repair", "capture", "explain"),
    *("fluentbit", "facts", "superset", "evidence", "fingerprint", "delivery", "callbacks"),
    *("forwarding", "reports", "api", "metrics", "witness", "transparency", "archive"),
)
"""The names of the components; a test compares them with the stack's own list."""
SUPERVISOR = "supervisor"
"""A further name for `tailrace logs`."""
_GLOBAL = ("--help", "--version")

Script = Callable[[Sequence[CommandHelp]], str]


def bash(commands: Sequence[CommandHelp]) -> str:
    """Returns a script for bash 4 or newer; it needs no package bash-completion."""
    return "\n".join(
        [
            "# Completion of tailrace for bash, made by `tailrace completion bash`.",
            "_tailrace() {",
            "    local current=${COMP_WORDS[COMP_CWORD]} previous=''",
            "    local command='' subcommand='' word words='' kind=''",
            '    [ "$COMP_CWORD" -gt 0 ] && previous=${COMP_WORDS[COMP_CWORD - 1]}',
            # Readline splits --output=json into three words.
            '    [ "$current" = "=" ] && current=""',
            '    [ "$previous" = "=" ] && previous=${COMP_WORDS[COMP_CWORD - 2]}',
            *_find_command(commands, "${COMP_WORDS[@]:1:COMP_CWORD-1}"),
            '    case "$command $subcommand $previous" in',
            *_value_cases(commands),
            "    esac",
            '    if [ -z "$kind" ]; then',
            '        case "$command $subcommand" in',
            *_word_cases(commands),
            "        esac",
            "    fi",
            "    case $kind in",
            "        none) COMPREPLY=() ;;",
            '        directory) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;',
            '        choices) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;',
            "        *)",
            '            mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")',
            '            if [ "$kind" = file ] && [[ $current != -* ]]; then',
            "                compopt -o filenames",
            '                mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current")',
            "            fi ;;",
            "    esac",
            "}",
            "complete -F _tailrace tailrace bin/tailrace",
            "",
        ]
    )


def zsh(commands: Sequence[CommandHelp]) -> str:
    """Returns a script for zsh, with the descriptions of commands and options."""
    return "\n".join(
        [
            "#compdef tailrace",
            "# Completion of tailrace for zsh, made by `tailrace completion zsh`.",
            "_tailrace() {",
            "    local previous=${words[CURRENT-1]} command='' subcommand='' word",
            "    local -a rows",
            *_find_command(commands, "${words[@]:1:$((CURRENT - 2))}"),
            '    case "$command $subcommand $previous" in',
            *_zsh_values(commands),
            "    esac",
            '    case "$command $subcommand" in',
            *_zsh_words(commands),
            "    esac",
            "}",
            'if [ "$funcstack[1]" = _tailrace ]; then _tailrace "$@"; else compdef _tailrace tailrace; fi',
            "",
        ]
    )


def fish(commands: Sequence[CommandHelp]) -> str:
    """Returns a script for fish."""
    lines = [
        "# Completion of tailrace for fish, made by `tailrace completion fish`.",
        "complete -c tailrace -f",
    ]
    for command in commands:
        lines.append(
            f"complete -c tailrace -n __fish_use_subcommand -a {command.name} -d {_fish(command.purpose)}"
        )
        for each in command.walk():
            lines += _fish_lines(each, command)
    return "\n".join([*lines, ""])


SHELLS: dict[str, Script] = {"bash": bash, "zsh": zsh, "fish": fish}


def _find_command(commands: Sequence[CommandHelp], words: str) -> list[str]:
    """Sets `command` and `subcommand` to the words that the command line has before the cursor."""
    return [
        f'    for word in "{words}"; do',
        "        case $command:$word in",
        "            :-*) ;;",
        "            :*) command=$word ;;",
        *(line for each in commands if each.subcommands for line in _subcommand_cases(each)),
        "        esac",
        "    done",
    ]


def _subcommand_cases(command: CommandHelp) -> list[str]:
    names = "|".join(f"{command.name}:{_last(each)}" for each in command.subcommands)
    return [f'            {names}) [ -n "$subcommand" ] || subcommand=$word ;;']


def _value_cases(commands: Sequence[CommandHelp]) -> list[str]:
    """Cases for the word after an option that has a value."""
    return [
        f"        {places}) {_bash_value(option)} ;;" for places, option in _options_with_values(commands)
    ]


def _options_with_values(commands: Sequence[CommandHelp]) -> Iterator[tuple[str, Value]]:
    """Yields the options that have a value, each after the pattern of the places in which it is completed."""
    for each in _all(commands):
        for option in each.options:
            if option.placeholder:
                yield "|".join(f"'{_place(each)} {name}'" for name in option.names), option


def _bash_value(option: Value) -> str:
    words = _values(option)
    if words:
        return f"kind='choices' words='{' '.join(words)}'"
    return f"kind='{option.kind or 'none'}'"


def _word_cases(commands: Sequence[CommandHelp]) -> list[str]:
    """Cases for subcommands, options and arguments of each command."""
    names = " ".join([*(command.name for command in commands), *_GLOBAL])
    lines = [f"            ' ') words='{names}' ;;"]
    for each in _all(commands):
        kind = next((argument.kind for argument in each.arguments if argument.kind), "")
        file = f" kind='{kind}'" if kind in (model.FILE, model.DIRECTORY) else ""
        lines.append(f"            '{_place(each)}') words='{' '.join(_words(each))}'{file} ;;")
    return lines


def _words(command: CommandHelp) -> list[str]:
    subcommands = [_last(each) for each in command.subcommands]
    options = [name for option in command.options for name in option.names if name.startswith("--")]
    values = [word for argument in command.arguments for word in _values(argument, command)]
    return [*subcommands, *values, *options]


def _values(value: Value, command: CommandHelp | None = None) -> Sequence[str]:
    """The values that can be completed as words."""
    if value.kind == model.COMPONENT and not value.choices:
        return (*COMPONENTS, SUPERVISOR) if command and command.name == "logs" else COMPONENTS
    return value.choices


def _zsh_values(commands: Sequence[CommandHelp]) -> list[str]:
    return [
        f"        {places}) {_zsh_value(option)}; return ;;"
        for places, option in _options_with_values(commands)
    ]


def _zsh_value(option: Value) -> str:
    if words := _values(option):
        return f"compadd -- {' '.join(words)}"
    return {model.FILE: "_files", model.DIRECTORY: "_files -/"}.get(
        option.kind, f"_message {option.placeholder}"
    )


def _zsh_words(commands: Sequence[CommandHelp]) -> list[str]:
    rows = [f"{command.name}:{command.purpose}" for command in commands]
    lines = [f"        ' ') rows=({_quoted(rows)}); _describe command rows ;;"]
    for each in _all(commands):
        rows = [f"{_last(sub)}:{sub.purpose}" for sub in each.subcommands]
        rows += [
            f"{name}:{option.help}" for option in each.options for name in option.names if name[:2] == "--"
        ]
        rows += [word for argument in each.arguments for word in _values(argument, each)]
        kinds = {argument.kind for argument in each.arguments}
        files = "; _files" if kinds & {model.FILE, model.DIRECTORY} else ""
        lines.append(f"        '{_place(each)}') rows=({_quoted(rows)}); _describe word rows{files} ;;")
    return lines


def _fish_lines(each: CommandHelp, command: CommandHelp) -> Iterable[str]:
    names = [_last(sub) for sub in command.subcommands]
    condition = f"__fish_seen_subcommand_from {command.name}"
    if each is not command:
        condition += f"; and __fish_seen_subcommand_from {_last(each)}"
    elif names:
        condition += f"; and not __fish_seen_subcommand_from {' '.join(names)}"
    start = f"complete -c tailrace -n {_fish(condition)}"
    for sub in each.subcommands:
        yield f"{start} -a {_last(sub)} -d {_fish(sub.purpose)}"
    for option in each.options:
        yield f"{start} {_fish_option(option)} -d {_fish(option.help)}"
    for argument in each.arguments:
        if words := _values(argument, each):
            yield f"{start} -a {_fish(' '.join(words))}"
        elif argument.kind:
            yield f"{start} -F"


def _fish_option(option: Value) -> str:
    names = " ".join(f"-l {name[2:]}" if name[:2] == "--" else f"-s {name[1:]}" for name in option.names)
    if not option.placeholder:
        return names
    if words := _values(option):
        return f"{names} -x -a {_fish(' '.join(words))}"
    return f"{names} -r -F" if option.kind else f"{names} -x"


def _all(commands: Sequence[CommandHelp]) -> Iterable[CommandHelp]:
    return (each for command in commands for each in command.walk())


def _place(command: CommandHelp) -> str:
    """A command as the scripts name it: its word, a space, and its subcommand or nothing."""
    return command.name if " " in command.name else f"{command.name} "


def _last(command: CommandHelp) -> str:
    return command.name.split()[-1]


def _quoted(rows: Iterable[str]) -> str:
    return " ".join("'" + re.sub(r"'", "'\\''", row) + "'" for row in rows)


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
