"""Compares what two versions write for the same input: `make compare BASE=<git revision>`.

Runs the command line of the base and of this working tree, or of the revision --to, over samples, fixtures
and, if present, the corpora. With --stack it runs both stacks instead, and compares the rows of all tables.
Prints every difference that accepted.yaml does not list. Exits with 1 if there is one, or if an entry of
accepted.yaml for this base accepts nothing. With --to, such an entry may belong to a later change.
"""

import argparse
import shutil
import sys
import tempfile
from collections import defaultdict
from fnmatch import fnmatchcase
from pathlib import Path

from e2e.compare import accepted, commands, differences, inputs, tables, versions
from e2e.compare.differences import Comparison, Difference

PRINTED = 20
"""So many differences of a file and column are printed."""
WIDTH = 300
"""Longer values are cut."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m e2e.compare", description=__doc__.splitlines()[0])
    parser.add_argument("base", help="a git revision: the version before")
    parser.add_argument("--to", default="", metavar="REVISION", help="the version after: not this tree")
    parser.add_argument("--stack", action="store_true", help="compare tables of running stacks, not commands")
    parser.add_argument("--first-port", type=int, default=tables.FIRST_PORT, help="of the nine of --stack")
    parser.add_argument("--base-rules", action="store_true", help="detect with the base's rules in both")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the outputs there; must not exist")
    names = sorted({command.name for command in commands.COMMANDS})
    parser.add_argument(
        "--only", nargs="+", choices=names, default=names, metavar="COMMAND", help=f"of {names}"
    )
    parser.add_argument(
        "--inputs", default="*", metavar="GLOB", help="only these groups, such as 'corpora-*'"
    )
    parser.add_argument(
        "--megabytes", type=int, default=20, help="read at most so much of a file (default: 20)"
    )
    parser.add_argument("--without-corpora", action="store_true", help="only files of the repository")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="compare") as temporary:
        work = (arguments.keep or Path(temporary)).resolve()
        work.mkdir(exist_ok=not arguments.keep, parents=True)
        with versions.both(arguments.base, arguments.to, arguments.base_rules) as (before, after):
            if arguments.stack:
                renamed = accepted.renamed_tables(before.commit)
                tables.rows_of_both((before, after), work, renamed, arguments.first_port)
            else:
                run_commands((before, after), work, arguments)
        return report(work / "before", work / "after", before.commit, bool(arguments.to))


def run_commands(both: tuple[versions.Version, ...], work: Path, arguments: argparse.Namespace) -> None:
    """Runs both command lines over the chosen inputs."""
    with_corpora = not arguments.without_corpora and inputs.CORPORA.is_dir()
    if not with_corpora:
        reason = "on request" if arguments.without_corpora else f"no {inputs.CORPORA}"
        print(f"skipped: the corpora, {reason}")
    groups = inputs.collect(work / "inputs", with_corpora, arguments.megabytes * 1_000_000)
    kinds = {command.kind for command in commands.COMMANDS if command.name in arguments.only}
    read = [group for group in groups if group.kind in kinds]
    chosen = [group for group in read if fnmatchcase(group.name, arguments.inputs)]
    if not chosen:
        sys.exit(f"--inputs {arguments.inputs}: none of {', '.join(sorted(group.name for group in read))}")
    for version in both:
        commands.run_all(version, chosen, arguments.only, (work / "home", work / version.name))
    shutil.rmtree(work / "inputs")


def report(before: Path, after: Path, commit: str, some_unused: bool = False) -> int:
    """Prints the comparison of two directories; returns the exit code.

    With `some_unused`, entries of accepted.yaml may accept nothing.
    """
    compared = differences.compare(before, after, accepted.column_rules(commit))
    found = [difference for each in compared for difference in each.differences]
    judged = accepted.judge(found, accepted.accepted(commit), [each.path for each in compared])
    _print_differences(judged.differences)
    _print_table(compared, judged.differences)
    unused = [] if some_unused else judged.unused
    for entry in unused:
        print(f"accepted.yaml: accepts nothing: {entry}")
    print(f"{len(judged.differences)} differences, {judged.accepted} accepted")
    return 1 if judged.differences or unused else 0


def _print_differences(found: list[Difference]) -> None:
    groups: dict[tuple[str, str], list[Difference]] = defaultdict(list)
    for each in found:
        groups[each.path, each.column].append(each)
    for (path, column), each in sorted(groups.items()):
        print(f"{path}: {column or 'rows of one version'}: {len(each)}")
        for difference in each[:PRINTED]:
            for sign, value in (("-", difference.before), ("+", difference.after)):
                if value is not None:
                    print(f"  {sign} {value if len(value) <= WIDTH else value[:WIDTH] + '…'}")


def _print_table(compared: list[Comparison], found: list[Difference]) -> None:
    """Prints rows and differences of each command, or of each table."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    left = defaultdict(int)
    for difference in found:
        left[difference.path] += 1
    for each in compared:
        numbers = (1, each.before, each.after, len(each.differences) - left[each.path], left[each.path])
        kind = each.path if each.path.startswith("tables/") else each.path.split("/")[0]
        sums[kind] = [total + number for total, number in zip(sums[kind], numbers, strict=True)]
    titles = ("", "files", "rows before", "rows after", "accepted", "differences")
    print(f"{titles[0]:<40}" + "".join(f"{title:>13}" for title in titles[1:]))
    for kind, numbers in sums.items():
        print(f"{kind:<40}" + "".join(f"{number:>13,}" for number in numbers))


if __name__ == "__main__":
    sys.exit(main())
