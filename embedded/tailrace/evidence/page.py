"""Renders the report as one HTML page without scripts or external resources, suitable for print."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from tailrace.evidence.coverage import CELLS, STATES, LogCoverage
from tailrace.evidence.framework import Requirement
from tailrace.evidence.report import ALL_READ, CHECK, PROVES, STATES_MEAN, Report, cell, heading, rows_text
from tailrace.evidence.results import Stored
from tailrace.plural import counted

COLOURS = {"covered": "#36796f", "behind": "#d4771a", "missing": "#df0913", "unknown": "#8f8f8f"}
"""As on the dashboards: distinguishable with every common kind of colour blindness."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Forbids scripts and external resources."""
FEWEST_DAYS = 7
"""The minimum number of rows for a chart."""
SLOTS = 31
"""The minimum width of a chart in days, which limits the width of bars."""
MAX_SIGNS = 300
"""Maximum length of a cell; the files contain the complete values."""

STYLE = (Path(__file__).parent / "page.css").read_text()


def render(report: Report) -> str:
    """Returns the page."""
    title = f"Evidence for {report.framework.title}"
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
            *_head(report, title),
            *_summary(report),
            *_coverage(report),
            *(
                line
                for requirement in report.framework.requirements
                for line in _requirement(report, requirement)
            ),
            *_end(report),
            "</body></html>\n",
        ]
    )


def _head(report: Report, title: str) -> Iterable[str]:
    yield f"<h1>{escape(title)}</h1>"
    yield f'<p class="lead">{escape(str(report.period))} (the end not included)</p>'
    made = f"{report.made_at:%Y-%m-%d %H:%M:%S} UTC"
    yield _list(
        {"Exported by": cell(report.actor), "Exported at": made, "Signed with": report.key_fingerprint}
    )
    yield from (f'<p class="warn">{escape(warning)}</p>' for warning in report.warnings)
    if not report.warnings:
        yield f'<p class="good">{escape(ALL_READ)}</p>'


def _list(pairs: Mapping[str, str]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in pairs.items()) + "</dl>"


def _summary(report: Report) -> Iterable[str]:
    yield "<h2>In short</h2>"
    rows = []
    for requirement in report.framework.requirements:
        counts = "<br>".join(f"{escape(s.result.title)}: <b>{s.rows:,}</b>" for s in report.of(requirement))
        link = f'<a href="#r{_anchor(requirement)}">{escape(requirement.id)}</a>'
        rows.append(f"<tr><td>{link}</td><td>{escape(requirement.asks)}</td><td>{counts}</td></tr>")
    head = "<tr><th>Requirement</th><th>Asks</th><th>Rows</th></tr>"
    yield f"<table><thead>{head}</thead>{''.join(rows)}</table>"
    yield f"<p><b>Not covered.</b> {escape(report.framework.not_covered)}</p>"


def _coverage(report: Report) -> Iterable[str]:
    coverage = report.coverage
    yield "<h2>Coverage</h2>"
    yield f"<p>{STATES_MEAN}</p>"
    yield _result(report.stored["servers"])
    if coverage.logs:
        yield "<h3>Minutes of each log</h3>" + _key() + _minutes(report, coverage.logs)
    yield "<h3>Minutes that are not covered</h3>"
    if coverage.intervals:
        yield _shown(len(coverage.intervals), coverage.not_covered_intervals, "intervals", "coverage")
        columns = ("instance", "source", "log", "state", "from_time", "to_time", "minutes", "bytes_missing")
        yield _table(columns, coverage.intervals)
    else:
        none = ALL_READ if coverage.logs else report.stored["coverage"].result.empty
        yield f'<p class="none">{escape(none)}</p>'
    yield _result(report.stored["gaps"])


def _key() -> str:
    marks = (f'<span><i style="background:{COLOURS[state]}"></i>{state}</span>' for state in STATES)
    return f'<p class="key">{"".join(marks)}</p>'


def _minutes(report: Report, logs: Sequence[LogCoverage]) -> str:
    rows = "".join(
        f"<tr><td>{escape(cell(log.instance))}</td><td>{escape(log.source)}</td><td>{escape(cell(log.log))}</td>"
        f'<td style="width:36%">{_bar(log)}</td>'
        + "".join(f'<td class="n">{log.minutes[state]:,}</td>' for state in STATES)
        + "</tr>"
        for log in logs
    )
    heads = "".join(f'<th class="n">{state}</th>' for state in STATES)
    span = f"{report.period.first:%Y-%m-%d %H:%M} → {report.period.end:%Y-%m-%d %H:%M} UTC"
    first = f"<th>server</th><th>log</th><th>file</th><th>{span}</th>"
    return f"<table><thead><tr>{first}{heads}</tr></thead>{rows}</table>"


def _bar(log: LogCoverage) -> str:
    """Draws a log's bar; neighbours with the same state are one rectangle."""
    parts, start = [], 0
    for end in range(1, CELLS + 1):
        if end == CELLS or log.cells[end] != log.cells[start]:
            colour = COLOURS[STATES[log.cells[start]]] if log.cells[start] >= 0 else "#edf0f2"
            parts.append(f'<rect x="{start}" y="0" width="{end - start}" height="12" fill="{colour}"/>')
            start = end
    drawing = f'<svg viewBox="0 0 {CELLS} 12" width="100%" height="14" preserveAspectRatio="none" role="img"'
    return f'{drawing} aria-label="{counted(log.not_covered, "minute")} not covered">{"".join(parts)}</svg>'


def _requirement(report: Report, requirement: Requirement) -> Iterable[str]:
    yield f'<h2 id="r{_anchor(requirement)}">{escape(requirement.id)} · {escape(requirement.asks)}</h2>'
    yield _list({"Shows": requirement.shows, "Cannot show": requirement.cannot_show})
    for stored in report.of(requirement):
        if stored.name in report.framework.coverage:
            yield f"<h3>{escape(stored.result.title)}</h3>"
            yield f'<p class="quiet">{counted(stored.rows, "row")}, under Coverage.</p>'
        else:
            yield _result(stored, report.days())


def _result(stored: Stored, days: Sequence[str] = ()) -> str:
    parts = [f"<h3>{escape(stored.result.title)}</h3>"]
    if stored.result.counts:
        parts.append(f'<p class="quiet">{escape(stored.result.counts)}</p>')
    if not stored.rows:
        return "".join(parts) + f'<p class="none">No rows. {escape(stored.result.empty)}</p>' + _files(stored)
    if stored.by_day and len(days) >= FEWEST_DAYS:
        parts.append(_days(stored.by_day, days))
    parts.append(_table(stored.result.columns, stored.first))
    return "".join(parts) + _files(stored)


def _files(stored: Stored) -> str:
    name = stored.name
    files = f"<code>results/{name}.csv</code>, <code>.parquet</code>; query <code>queries/{name}.sql</code>"
    return f'<p class="quiet">{rows_text(stored)}; all rows and columns: {files}</p>'


def _shown(shown: int, total: int, what: str, name: str) -> str:
    if shown == total:
        return f'<p class="quiet">{total:,} {what}</p>'
    return f'<p class="quiet">{shown:,} of {total:,} {what} shown; all: <code>results/{name}.csv</code></p>'


def _days(by_day: Mapping[str, int], days: Sequence[str]) -> str:
    most = max(by_day.values())
    bars = "".join(
        f'<rect x="{n}" y="{40 * (1 - by_day[day] / most):.2f}" width="0.8" '
        f'height="{40 * by_day[day] / most:.2f}" fill="#0072b2"><title>{day}: {by_day[day]:,}</title></rect>'
        for n, day in enumerate(days)
        if by_day.get(day)
    )
    box = f'viewBox="0 0 {max(SLOTS, len(days))} 40" width="100%" height="48" preserveAspectRatio="none"'
    svg = f"<svg {box}>{bars}</svg>"
    label = f"rows per day, {days[0]} to {days[-1]} UTC; highest: {most:,}"
    return f"<figure>{svg}<figcaption>{label}</figcaption></figure>"


def _table(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    rows = list(rows)
    kinds = {column: _kind([row[column] for row in rows]) for column in columns}
    head = "".join(f"<th{kinds[column]}>{escape(heading(column))}</th>" for column in columns)
    body = "".join(
        "<tr>"
        + "".join(f"<td{kinds[column]}>{escape(_short(row[column]))}</td>" for column in columns)
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead>{body}</table>"


def _kind(values: Sequence[str]) -> str:
    if all(value == "\\N" or value.lstrip("-").isdigit() for value in values):
        return ' class="n"'
    is_time = all(value == "\\N" or value[4:5] + value[7:8] + value[13:14] == "--:" for value in values)
    return ' class="time"' if is_time else ""


def _short(text: str) -> str:
    text = cell(text)
    return text if len(text) <= MAX_SIGNS else text[:MAX_SIGNS] + " …"


def _anchor(requirement: Requirement) -> str:
    return re.sub(r"[^0-9A-Za-z]+", "-", requirement.id).strip("-")


def _end(report: Report) -> Iterable[str]:
    yield "<h2>About this bundle</h2>"
    yield f"<p>{escape(PROVES)} The key must come from somewhere else to prove who signed it.</p>"
    yield from (f"<p><code>{escape(line)}</code></p>" for line in CHECK)
    yield _list(report.versions)
