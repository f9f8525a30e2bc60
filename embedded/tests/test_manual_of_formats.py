"""The manual names every log format, what it lacks, and every framer's snapshot."""

import re
from pathlib import Path

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
        for line in (REPOSITORY / "docs/FORMATS.md").read_text().splitlines()
        if re.match(r"\| `[a-z0-9-]+`.* \| (slowlog|audit|general|errorlog) \|", line)
    ]
    described = {name: row[2].strip() for row in rows for name in NAME.findall(row[1])}

    assert described == {directory.name: source_of(directory) for directory in GOLDEN.iterdir()}, (
        "docs/FORMATS.md, first table: each directory of golden inputs needs a row with its name and the "
        "source of its events, and no other format has a row"
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

    assert framers == set(table), "docs/STATE.md, Snapshots of framers: a row for each class, and no other"


def test_the_manual_states_what_each_format_lacks():
    tests = REPOSITORY / "stream-jobs/cli/src/test/java/io/tailrace/cli"
    parity = (tests / "FormatParityTest.java").read_text()
    differences, number = differences_in((tests / "FormatComparison.java").read_text())
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
    assert len(differences) == number > 10
    assert without_logins
    assert missing == [], (
        "docs/TAXONOMY.md, Fields that formats lack: a row for what DIFFERENCES of FormatComparison and "
        "STATEMENTS_ONLY of FormatParityTest list"
    )


def differences_in(comparison: str) -> tuple[list[tuple[str, str]], int]:
    """Returns format and field of the entries of DIFFERENCES, and how many entries there are."""
    listed = re.search(r"DIFFERENCES = List\.of\((.*?)\);\n\n", comparison, re.DOTALL)[1]
    mcafee = re.search(r'MCAFEE = "([a-z0-9-]+)"', comparison)[1]
    listed = listed.replace("MCAFEE", f'"{mcafee}"')
    found = [(name, "src_ip") for name in re.findall(r'addressOfNamedClient\("([a-z0-9-]+)"\)', listed)]
    found += [(name, "database") for name in re.findall(r'databaseOfRefusal\("([a-z0-9-]+)"\)', listed)]
    others = r'(?:withoutResult|new Difference)\(\s*"([a-z0-9-]+)",\s*DatabaseField\.(\w+)'
    found += [(name, field.lower()) for name, field in re.findall(others, listed)]
    return found, len(re.findall(r"^ {12}\w", listed, re.MULTILINE))
