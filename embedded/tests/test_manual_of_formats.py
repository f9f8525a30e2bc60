"""The manual lists every log format with its missing fields, and the snapshot of every framer."""

import re
from pathlib import Path

import pytest

from tailrace.config.resources import REPOSITORY

QUERY_CORE = REPOSITORY / "stream-jobs/query-core/src"
GOLDEN = QUERY_CORE / "test/resources/golden"
"""A directory for each format: FormatReassemblyTest fails for a format without one."""
NAME = re.compile(r"`([a-z0-9-]+)`")
"""FormatRegistryTest checks that the names of formats have no other characters."""
NAMED = re.compile(r'"([a-z0-9-]+)"')


def test_the_manual_lists_every_format_by_its_source():
    rows = [
        line.split("|")
        for line in (REPOSITORY / "docs/FORMATS.md").read_text().partition("\n## Flags\n")[0].splitlines()
        if re.match(r"\| `[a-z0-9-]+`.* \| (slowlog|audit|general|errorlog) \|", line)
    ]
    described = {name: row[2].strip() for row in rows for name in NAME.findall(row[1])}

    expected = {directory.name: source_of(directory) for directory in GOLDEN.iterdir()}
    assert described == expected, (
        "docs/FORMATS.md, first table: each directory of golden inputs needs a row with its name and the "
        "source of its events, and no other format has a row. "
        f"Rows that are missing or wrong: {sorted(expected.items() - described.items())}; "
        f"rows without such a directory: {sorted(described.keys() - expected.keys())}"
    )


def source_of(directory: Path) -> str:
    """Returns the source in the expected events of a format."""
    texts = (file.read_text() for file in sorted(directory.glob("*/expected.json")))
    sources = {source for text in texts for source in re.findall(r'"source":"(\w+)"', text)}
    assert len(sources) == 1, (
        f"golden/{directory.name}/*/expected.json: expected events of one source, found {sorted(sources)}; "
        "GoldenTest with -Dgolden.update=true writes these files"
    )
    return sources.pop()


def section(page: str, title: str) -> str:
    text = (REPOSITORY / "docs" / page).read_text()
    return re.search(rf"\n(#+) {title}\n(.*?)(?=\n#+ |\Z)", text, re.DOTALL)[2]


def test_the_manual_names_every_framer():
    framers = {
        name
        for file in (QUERY_CORE / "main").rglob("*Framer.java")
        for name in re.findall(r"class (\w+) implements EntryFramer", file.read_text())
    }
    table = re.findall(r"^\| `(\w+Framer)`", section("STATE.md", "Snapshots of framers"), re.MULTILINE)

    assert framers == set(table), (
        "docs/STATE.md, Snapshots of framers: a row for each class, and no other. "
        f"Missing: {sorted(framers - set(table))}; without a class: {sorted(set(table) - framers)}"
    )


def test_the_manual_states_what_each_format_lacks():
    tests = REPOSITORY / "stream-jobs/cli/src/test/java/io/tailrace/cli"
    parity = (tests / "FormatParityTest.java").read_text()
    differences = differences_in((tests / "FormatComparison.java").read_text())
    statements_only = re.search(r"STATEMENTS_ONLY = Set\.of\((.*?)\);", parity, re.DOTALL)[1]
    without_logins = NAMED.findall(statements_only)
    lacking = [*differences, *((name, "logins") for name in without_logins)]
    rows = [
        row.split("|")
        for row in section("TAXONOMY.md", "Fields that formats lack").splitlines()
        if "|" in row
    ]

    missing = [
        (name, field)
        for name, field in lacking
        if not any(f"`{name}`" in row[1] and re.search(rf"\b{field}\b", row[2]) for row in rows)
    ]
    assert len(differences) > 10 and without_logins
    assert missing == [], (
        "docs/TAXONOMY.md, Fields that formats lack: a row for what DIFFERENCES of FormatComparison and "
        f"STATEMENTS_ONLY of FormatParityTest list. Missing: {missing}"
    )


def differences_in(comparison: str) -> list[tuple[str, str]]:
    """Returns format and field of each entry of DIFFERENCES, which calls a constructor or another method."""
    listed = re.search(r"DIFFERENCES = List\.of\(\n(.*?)\);\n\n", comparison, re.DOTALL)[1]
    entries = re.split(r"^ {12}(?=\w)", listed, flags=re.MULTILINE)[1:]
    return [difference_in(entry.strip(), comparison) for entry in entries]


def difference_in(entry: str, comparison: str) -> tuple[str, str]:
    call = re.match(r"(?:new )?(?:\w+\.)*(\w+)\(\s*(\"?[\w-]+\"?)\s*(?:,\s*DatabaseField\.(\w+))?", entry)
    method, written, field = call.groups() if call else ("", "", None)
    constants = dict(re.findall(r'String (\w+) = "([a-z0-9-]+)"', comparison))
    names = NAMED.findall(written) or [constants.get(written)]
    body = re.search(rf"static Difference {method}\((.*?)\n +}}\n", comparison, re.DOTALL)
    own = re.search(r"DatabaseField\.(\w+)", body[1]) if body else None
    field = field or (own and own[1])
    assert names[0] and field, (
        "DIFFERENCES of FormatComparison: expected a call with the name of a format (in quotation marks, or "
        "a constant of the class) and DatabaseField.X, unless the called method names the field, "
        f"found {entry!r}"
    )
    return names[0], field.lower()


COMPARISON = """
    static final String MCAFEE = "mcafee-audit-json";
    private static final List<Difference> DIFFERENCES = List.of(
            %s);

    private static Difference databaseOfRefusal(String format) {
        return Difference.absent(format, DatabaseField.DATABASE, "a refusal names none", expected -> true);
    }
"""


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ('Difference.absent("acme-audit", DatabaseField.HOST, "r", all -> true)', ("acme-audit", "host")),
        (
            "new Difference(\n            MCAFEE,\n            DatabaseField.FLAG, f)",
            ("mcafee-audit-json", "flag"),
        ),
        ('databaseOfRefusal("acme-audit")', ("acme-audit", "database")),
    ],
)
def test_an_entry_of_differences_is_read(entry, found):
    assert differences_in(COMPARISON % entry.replace("\n", "\n    ")) == [found]


@pytest.mark.parametrize("entry", ["OTHER", 'withoutField("acme-audit")', "databaseOfRefusal(ACME)"])
def test_an_entry_of_differences_without_a_format_or_field_is_reported(entry):
    with pytest.raises(AssertionError, match="expected a call with the name of a format"):
        differences_in(COMPARISON % entry)
