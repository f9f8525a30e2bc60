"""Renders the report as PDF with reportlab, whose fonts need no installation.

The standard fonts of PDF readers contain only western letters: other characters appear as \\u{…} here, and
unchanged in the page and in the files.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.graphics.shapes import Drawing, Rect
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, KeepTogether, Paragraph, SimpleDocTemplate, Spacer, Table

from tailrace.evidence.coverage import CELLS, STATES, LogCoverage
from tailrace.evidence.framework import Requirement
from tailrace.evidence.page import COLOURS, FEWEST_DAYS, SLOTS
from tailrace.evidence.report import ALL_READ, CHECK, PROVES, STATES_MEAN, Report, cell, heading, rows_text
from tailrace.evidence.results import NULL, Stored
from tailrace.plural import counted

PAGE = landscape(A4)
MARGIN = 14 * mm
WIDTH = PAGE[0] - 2 * MARGIN
MAX_SIGNS = 160
"""Maximum length of a cell; the files contain the complete values."""
MAX_WEIGHT, MIN_WEIGHT = 46, 6
"""Bounds of a column's width, in characters of its longest value."""

BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=9, leading=12.5)
SMALL = ParagraphStyle("small", BODY, fontSize=7, leading=8.8, wordWrap="CJK")
NUMBER = ParagraphStyle("number", SMALL, alignment=TA_RIGHT)
QUIET = ParagraphStyle("quiet", BODY, fontSize=8, leading=10, textColor=HexColor("#5a6572"), spaceAfter=4)
TITLE = ParagraphStyle("title", BODY, fontName="Helvetica-Bold", fontSize=19, leading=24)
LEAD = ParagraphStyle("lead", BODY, fontSize=11, leading=15, textColor=HexColor("#48525e"), spaceAfter=6)
H2 = ParagraphStyle(
    "h2",
    BODY,
    fontName="Helvetica-Bold",
    fontSize=13,
    leading=16,
    spaceBefore=14,
    spaceAfter=4,
    keepWithNext=1,
)
H3 = ParagraphStyle(
    "h3",
    BODY,
    fontName="Helvetica-Bold",
    fontSize=10,
    leading=13,
    spaceBefore=8,
    spaceAfter=2,
    keepWithNext=1,
)
WARNING = ParagraphStyle(
    "warning", BODY, backColor=HexColor("#fdf3ec"), borderPadding=5, spaceBefore=7, spaceAfter=7, leftIndent=5
)
GOOD = ParagraphStyle("good", WARNING, backColor=HexColor("#eef8f4"))
LINE = HexColor("#dde2e7")
BLANK = HexColor("#edf0f2")
BLUE = HexColor("#0072b2")


def write(report: Report, path: Path) -> None:
    """Writes the document."""
    title = f"Evidence for {report.framework.title}"
    document = SimpleDocTemplate(
        str(path),
        pagesize=PAGE,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=MARGIN,
        bottomMargin=MARGIN + 4 * mm,
        title=f"{title}, {report.period}",
        author=_latin(report.actor),
        creator="Tailrace",
    )

    def foot(canvas: Canvas, _: SimpleDocTemplate) -> None:
        canvas.setFont("Helvetica", 7)
        canvas.setFillColor(HexColor("#5a6572"))
        canvas.drawString(
            MARGIN, 9 * mm, f"{title} · {report.period} · exported {report.made_at:%Y-%m-%d %H:%M} UTC"
        )
        canvas.drawRightString(PAGE[0] - MARGIN, 9 * mm, f"{canvas.getPageNumber()}")

    document.build(list(_story(report, title)), onFirstPage=foot, onLaterPages=foot)


def _story(report: Report, title: str) -> Iterable[Flowable]:
    yield Paragraph(_text(title), TITLE)
    yield Paragraph(f"{report.period} (the end not included)", LEAD)
    made = f"{report.made_at:%Y-%m-%d %H:%M:%S} UTC"
    yield _pairs({"Exported by": report.actor, "Exported at": made, "Signed with": report.key_fingerprint})
    yield Spacer(1, 6)
    yield from (Paragraph(_text(warning), WARNING) for warning in report.warnings)
    if not report.warnings:
        yield Paragraph(ALL_READ, GOOD)
    yield from _summary(report)
    yield from _coverage(report)
    for requirement in report.framework.requirements:
        yield from _requirement(report, requirement)
    yield Paragraph("About this bundle", H2)
    yield Paragraph(_text(f"{PROVES} The key must come from somewhere else to prove who signed it."), BODY)
    yield from (Paragraph(f'<font face="Courier" size="8">{_text(line)}</font>', BODY) for line in CHECK)
    yield Spacer(1, 6)
    yield _pairs(report.versions)


def _summary(report: Report) -> Iterable[Flowable]:
    yield Paragraph("In short", H2)
    rows = [
        {
            "requirement": requirement.id,
            "asks": requirement.asks,
            "rows": "; ".join(f"{stored.result.title}: {stored.rows:,}" for stored in report.of(requirement)),
        }
        for requirement in report.framework.requirements
    ]
    yield _table(("requirement", "asks", "rows"), rows, (0.18, 0.34, 0.48))
    yield Paragraph(f"<b>Not covered.</b> {_text(report.framework.not_covered)}", BODY)


def _coverage(report: Report) -> Iterable[Flowable]:
    coverage = report.coverage
    yield Paragraph("Coverage", H2)
    yield Paragraph(STATES_MEAN, BODY)
    yield from _result(report.stored["servers"])
    if coverage.logs:
        yield Paragraph("Minutes of each log", H3)
        yield _minutes(report, coverage.logs)
    yield Paragraph("Minutes that are not covered", H3)
    if coverage.intervals:
        shown, total = len(coverage.intervals), coverage.not_covered_intervals
        where = "" if shown == total else "; all of them: results/coverage.csv"
        yield Paragraph(f"{shown:,} of {counted(total, 'interval')} shown{where}", QUIET)
        columns = ("instance", "source", "log", "state", "from_time", "to_time", "minutes", "bytes_missing")
        yield _table(columns, coverage.intervals)
    else:
        none = ALL_READ if coverage.logs else report.stored["coverage"].result.empty
        yield Paragraph(_text(none), QUIET)
    yield from _result(report.stored["gaps"])


def _minutes(report: Report, logs: Sequence[LogCoverage]) -> Table:
    bar = 0.36 * WIDTH
    span = f"{report.period.first:%Y-%m-%d %H:%M} to {report.period.end:%Y-%m-%d %H:%M} UTC"
    names = ["server", "log", "file", span, *STATES]
    head = [Paragraph(f"<b>{_text(name)}</b>", NUMBER if name in STATES else SMALL) for name in names]
    lines = [
        [
            *(Paragraph(_text(text), SMALL) for text in (log.instance, log.source, log.log)),
            _bar(log, bar - 8),
            *(Paragraph(f"{log.minutes[state]:,}", NUMBER) for state in STATES),
        ]
        for log in logs
    ]
    rest = (0.1, 0.06, 0.2, 0.36, 0.07, 0.07, 0.07, 0.07)
    table = Table([head, *lines], [WIDTH * part for part in rest], repeatRows=1, style=_style())
    table.hAlign = "LEFT"
    return table


def _bar(log: LogCoverage, width: float) -> Drawing:
    drawing = Drawing(width, 9)
    step = width / CELLS
    start = 0
    for end in range(1, CELLS + 1):
        if end == CELLS or log.cells[end] != log.cells[start]:
            drawing.add(_rect(start * step, 0, (end - start) * step, 9, _colour(log.cells[start])))
            start = end
    return drawing


def _colour(rank: int) -> Color:
    return HexColor(COLOURS[STATES[rank]]) if rank >= 0 else BLANK


def _rect(x: float, y: float, width: float, height: float, colour: Color) -> Rect:
    return Rect(x, y, width, height, fillColor=colour, strokeColor=None, strokeWidth=0)


def _requirement(report: Report, requirement: Requirement) -> Iterable[Flowable]:
    yield KeepTogether(
        [
            Paragraph(_text(f"{requirement.id} · {requirement.asks}"), H2),
            _pairs({"Shows": requirement.shows, "Cannot show": requirement.cannot_show}),
        ]
    )
    for stored in report.of(requirement):
        if stored.name in report.framework.coverage:
            yield Paragraph(_text(stored.result.title), H3)
            yield Paragraph(f"{counted(stored.rows, 'row')}, under Coverage.", QUIET)
        else:
            yield from _result(stored, report.days())


def _result(stored: Stored, days: Sequence[str] = ()) -> Iterable[Flowable]:
    yield Paragraph(_text(stored.result.title), H3)
    if stored.result.counts:
        yield Paragraph(_text(stored.result.counts), QUIET)
    if not stored.rows:
        yield Paragraph(f"<i>No rows. {_text(stored.result.empty)}</i>", BODY)
    elif stored.by_day and len(days) >= FEWEST_DAYS:
        yield _days(stored.by_day, days)
        yield Paragraph(
            f"rows per day, {days[0]} to {days[-1]} UTC; highest: {max(stored.by_day.values()):,}", QUIET
        )
    if stored.rows:
        yield _table(stored.result.columns, stored.first)
    yield Paragraph(
        f"{rows_text(stored)}; all rows and columns: results/{stored.name}.csv, .parquet; "
        f"query: queries/{stored.name}.sql",
        QUIET,
    )


def _days(by_day: Mapping[str, int], days: Sequence[str]) -> Drawing:
    drawing = Drawing(WIDTH, 30)
    step, most = WIDTH / max(SLOTS, len(days)), max(by_day.values())
    for number, day in enumerate(days):
        if count := by_day.get(day):
            drawing.add(_rect(number * step, 0, step * 0.8, 28 * count / most, BLUE))
    return drawing


def _table(columns: Sequence[str], rows: Iterable[Mapping[str, str]], parts: Sequence[float] = ()) -> Table:
    rows = list(rows)
    texts = {column: [_short(row[column]) for row in rows] for column in columns}
    styles = {column: _column_style([row[column] for row in rows]) for column in columns}
    head = [Paragraph(f"<b>{_text(heading(column))}</b>", styles[column]) for column in columns]
    lines = [
        [Paragraph(_text(texts[column][n]), styles[column]) for column in columns] for n in range(len(rows))
    ]
    widths = [WIDTH * part for part in parts or _shares(texts)]
    return Table([head, *lines], widths, repeatRows=1, style=_style(), hAlign="LEFT")


def _shares(texts: Mapping[str, Sequence[str]]) -> list[float]:
    """Computes column widths from the contents, to avoid line breaks."""
    longest = [max(len(word) for word in (column, *values)) for column, values in texts.items()]
    weights = [min(MAX_WEIGHT, max(MIN_WEIGHT, length)) + 2 for length in longest]
    return [weight / max(sum(weights), 120) for weight in weights]


def _style() -> list[tuple]:
    return [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LINEBELOW", (0, 0), (-1, 0), 0.9, HexColor("#7b8794")),
        ("LINEBELOW", (0, 1), (-1, -1), 0.4, LINE),
        ("LEFTPADDING", (0, 0), (-1, -1), 0),
        ("RIGHTPADDING", (0, 0), (-1, -1), 6),
        ("TOPPADDING", (0, 0), (-1, -1), 1.5),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2.5),
    ]


def _column_style(values: Sequence[str]) -> ParagraphStyle:
    numbers = bool(values) and all(value == NULL or value.lstrip("-").isdigit() for value in values)
    return NUMBER if numbers else SMALL


def _pairs(pairs: Mapping[str, str]) -> Table:
    lines = [
        [Paragraph(f"<b>{_text(name)}</b>", BODY), Paragraph(_text(text), BODY)]
        for name, text in pairs.items()
    ]
    style = [*_style()[:1], ("LEFTPADDING", (0, 0), (-1, -1), 0), ("TOPPADDING", (0, 0), (-1, -1), 1)]
    style.append(("BOTTOMPADDING", (0, 0), (-1, -1), 1))
    return Table(lines, [38 * mm, WIDTH - 38 * mm], style=style, hAlign="LEFT")


def _short(text: str) -> str:
    text = cell(text)
    return text if len(text) <= MAX_SIGNS else text[:MAX_SIGNS] + " …"


def _text(text: str) -> str:
    return escape(_latin(cell(text)))


def _latin(text: str) -> str:
    """Replaces characters that the standard fonts lack by their code points."""
    plain = text.replace("→", "->")
    return "".join(sign if _has(sign) else f"\\u{{{ord(sign):x}}}" for sign in plain)


def _has(sign: str) -> bool:
    try:
        sign.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True
