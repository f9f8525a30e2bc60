"""Changes ten things in the static files of Superset 6.1.0 that no setting changes.

    python static_assets.py DIRECTORY     superset/static/assets of an installation

- Every page contains a tracking image. The content security policy blocks it, but with an error on each page.
  Its address is replaced by that of an empty image.
- The list "Last" of the time filter begins with a day. It gets SHORT_RANGES, which
  tailrace_time_ranges.py interprets.
- A chart can sort its series by name or by size. Sorted by name, LEVELS are in the order of severity.
- The number format SECONDS writes durations as the work pages do. Superset's formats cut digits off
  (`DURATION` writes 42.66 s as 42.6s) or have units that nobody uses for time (`.3~s`: 1,234 s are 1.23k).
- The list "Search by" of a table shows the titles of columns, as the header of the table does.
- The time filter shows two times as "2026-11-27 00:00 to 2026-11-28 00:00 UTC", as the work pages do, not as
  a condition on the column "col".
- A single number that is unknown is "N/A", as in rows of numbers, instead of "No data".
- A dashboard that is opened from the menu shows its first tab. Superset keeps the tabs of all dashboards of a
  visit, so that a link to a tab decided which tab the next visit began with.
- A dashboard that is opened inside the page of another one is drawn when its contents have replaced those of
  the other one. Superset draws the other one again first, and then drops the colours of all series.
- The numbers of a heat map's legend have the text colour of the theme. Superset leaves them dark in both.

Files are replaced, not changed, because uv links them to its cache. Browsers keep files with a hash in their
name for good: changed files, and those that name them, get another hash. Exits with 1 and a message if a file
that must be changed is not there: then Superset has another version, and these changes must be adapted.
"""

import hashlib
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

TELEMETRY = "https://apachesuperset.gateway.scarf.sh/pixel/"
# The script appends a suffix to the address, which becomes part of the fragment.
EMPTY_IMAGE = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=#"

SHORT_RANGES = {
    "Last 15 minutes": "Last 15 minutes",
    "Last 1 hour": "Last 1 hour",
    "Last 6 hours": "Last 6 hours",
    "Current day": "Today",
    "previous calendar day": "Yesterday",
}
"""Labels by values. "Today" and "Yesterday" are in the list "Last", which opens first."""
FIRST_RANGE = re.compile(r'\{value:"Last day",label:(?P<translate>\(0,\w+\.t\))\("Last day"\)\}')
"""The first item of the list, as the minifier writes it."""
KNOWN_RANGES = 'new Set(["Last day",'
"""The begin of the set of ranges that the list may select; another one is replaced by a week."""

LEVELS = ("critical", "high", "medium", "low", "informational")
BY_NAME = re.compile(
    r'numeric:!0,sensitivity:"base"\}\);return \w\.sort\('
    r"\((?P<one>\w),(?P<other>\w)\)=>(?P<compared>[^|}]+)\)\}"
)
"""Where a chart sorts its series by name, as the minifier writes it."""

SHOWN_COLUMNS = re.compile(
    r"(?P<built>\w+)=\(0,\w+\.useMemo\)\(\(\)=>(?P<columns>\w+)\.map\((?P<build>\w+)\),\[(?P=columns),(?P=build)\]\)"
)
"""Where a table makes the columns that it shows of those of its dataset, as the minifier writes it."""
SEARCH_OPTION = re.compile(r"\{value:(?P<each>\w+)\.columnKey,label:(?P=each)\.columnKey\}")
"""A column in the list "Search by"."""

DURATION_FORMAT = re.compile(
    r'\.registerValue\("DURATION",(?P<formatter>\(0,\w+\.\w+\)\(\))\)(?!\.registerValue\("SECONDS")'
)
"""Where Superset registers its format of durations, as the minifier writes it."""
# The spaces do not break. `duration` of tailrace_pages/formats.py is the same in Python.
SECONDS = """value=>{
const seconds=Math.abs(Number(value)),sign=value<0?"-":"",whole=Math.floor(seconds+.5),
two=(size,unit,...small)=>
sign+size.toLocaleString("en-US")+"\\xa0"+unit+(small[0]?"\\xa0"+small.join("\\xa0"):""),
units=[[1e-6,1e9,"ns"],[.001,1e6,"\\xb5s"],[1,1e3,"ms"],[60,1,"s"]],
[limit,factor,unit]=units.find(each=>seconds<each[0])||[];
return seconds===0?"0\\xa0s":limit?sign+Number((seconds*factor).toPrecision(3))+"\\xa0"+unit
:whole<3600?two(Math.floor(whole/60),"min",whole%60,"s")
:whole<86400?two(Math.floor(whole/3600),"h",Math.floor(whole/60)%60,"min")
:two(Math.floor(whole/86400),"d",Math.floor(whole/3600)%24,"h")}""".replace("\n", "")


def without_telemetry(script: str) -> str:
    """Returns the text of a script without the address of the tracking image."""
    return script.replace(TELEMETRY, EMPTY_IMAGE)


def with_short_ranges(script: str) -> str:
    """Returns the text of a script with SHORT_RANGES before the range of a day."""
    if next(iter(SHORT_RANGES)) in script:
        return script
    known = "".join(f'"{text}",' for text in SHORT_RANGES)
    wider = script.replace(KNOWN_RANGES, KNOWN_RANGES.replace('"Last day",', f'{known}"Last day",'))
    return FIRST_RANGE.sub(_items, wider)


def _items(day: re.Match[str]) -> str:
    short = (
        f'{{value:"{value}",label:{day["translate"]}("{label}")}}' for value, label in SHORT_RANGES.items()
    )
    return ",".join([*short, day[0]])


def with_levels_by_severity(script: str) -> str:
    """Returns the text of a script that compares two levels by their place in LEVELS."""
    return BY_NAME.sub(_by_severity, script)


def _by_severity(sort: re.Match[str]) -> str:
    levels = "[" + ",".join(f'"{level}"' for level in LEVELS) + "]"
    one, other = sort["one"], sort["other"]
    places = f"{levels}.indexOf({one})-{levels}.indexOf({other})"
    return sort[0].replace(f"=>{sort['compared']})", f"=>{places}||({sort['compared']}))")


def with_titles_of_searched_columns(script: str) -> str:
    """Returns the text of a script in which "Search by" shows the titles of the columns of a table."""
    shown = SHOWN_COLUMNS.search(script)
    return SEARCH_OPTION.sub(partial(_titled, shown["columns"]), script) if shown else script


def _titled(columns: str, option: re.Match[str]) -> str:
    key = f"{option['each']}.columnKey"
    title = f"({columns}.find(column=>column.key==={key})||{{}}).label||{key}"
    return f"{{value:{key},label:{title}}}"


def with_seconds(script: str) -> str:
    """Returns the text of a script that also registers the number format SECONDS."""
    return DURATION_FORMAT.sub(_seconds, script)


def _seconds(duration: re.Match[str]) -> str:
    config = f'{{id:"SECONDS",label:"Duration in s",formatFunc:{SECONDS}}}'
    made = f"new({duration['formatter']}.constructor)({config})"
    return f'{duration[0]}.registerValue("SECONDS",{made})'


SHOWN_RANGE = re.compile(
    r"`\$\{\w+\((?P<since>\w+\[0\]),!0\)\} ≤ \$\{\w+\} < \$\{\w+\((?P<until>\w+\[1\])\)\}`"
)
"""The text of a time range, as the minifier writes it. A time is like 2026-11-27T00:00:00, or empty."""


def with_times_of_range(script: str) -> str:
    """Returns the text of a script that writes a time range without the column "col"."""
    return SHOWN_RANGE.sub(_times_of_range, script)


def _times_of_range(shown: re.Match[str]) -> str:
    since, until = (
        f'${{{shown[name]}.replace("T"," ").replace(/:00$/,"")||"{unlimited}"}}'
        for name, unlimited in (("since", "-∞"), ("until", "∞"))
    )
    return f"`{since} to {until} UTC`"


UNKNOWN_NUMBER = re.compile(
    r'(?P<unknown>if\(null==\w+\)\w+=)\(0,\w+\.t\)\("No data"\)(?=;else if\("number")'
)
"""Where a single number is written, as the minifier writes it."""


def with_not_available(script: str) -> str:
    """Returns the text of a script that writes an unknown single number as N/A."""
    return UNKNOWN_NUMBER.sub(r'\g<unknown>"N/A"', script)


CHART_OPTIONS = re.compile(r"(?<=,)(?P<options>\w+),(?P<theme>\w+)\.echartsOptionsOverrides\|\|\{\}")
"""Where the options of a chart are merged with those of the theme, as the minifier writes it."""


def with_coloured_legend(script: str) -> str:
    """Returns the text of a script that gives the legend of a heat map the text colour of the theme."""
    return script if "visualMap:{textStyle:{color:" in script else CHART_OPTIONS.sub(_coloured, script)


def _coloured(merged: re.Match[str]) -> str:
    options, theme = merged["options"], merged["theme"]
    legend = f"visualMap:{{textStyle:{{color:{theme}.colorText}}}}"
    return f"{options},{options}&&{options}.visualMap?{{{legend}}}:{{}},{theme}.echartsOptionsOverrides||{{}}"


KEPT_TABS = re.compile(
    r"(?<=activeTabs:)(?P<given>\w+)\|\|\(null==(?P<state>\w+)\?void 0:(?P=state)\.activeTabs\)"
)
"""The expression, as the minifier writes it, that chooses the tabs of a dashboard: those of a permanent link
(`given`), or else those that were open in the previous dashboard."""


def with_first_tabs(script: str) -> str:
    """Returns the text of a script that ignores the tabs of the previous dashboard."""
    return KEPT_TABS.sub(r"\g<given>", script)


KEPT_PATH = re.compile(
    r"(?<=[ ,](?P<path>[\w$])=)[\w$]+\.directPathToChild\|\|"
    r"(?=\[\];(?P<anchor>[\w$])&&[\w$]+\[(?P=anchor)\]&&\((?P=path)=)"
)
"""The expression that chooses the path to the tab of an earlier link if the address names no tab."""


def without_earlier_path(script: str) -> str:
    """Returns the text of a script that ignores the path of an earlier link."""
    return KEPT_PATH.sub("", script)


OPEN_DASHBOARD = re.compile(
    r"(?P<known>\w+)=(?P<selected>\(0,\w+\.\w+\)\()\(\{dashboardInfo:(?P<info>\w+)\}\)=>"
    r"(?P=info)&&Object\.keys\((?P=info)\)\.length>0\)"
)
"""Where the page of a dashboard learns whether the contents of one are known, as the minifier writes it."""
WANTED_DASHBOARD = re.compile(r"\{dashboard_title:\w+,id:(?P<id>\w+)=0\}=")


def without_other_dashboard(script: str) -> str:
    """Returns the text of a script that draws a dashboard when its own contents are known.

    Superset draws it as soon as those of any dashboard are. It applies `label_colors` when it begins to draw,
    and resets the colours when the contents of the other dashboard are replaced.
    """
    known, wanted = OPEN_DASHBOARD.search(script), WANTED_DASHBOARD.search(script)
    if not (known and wanted):
        return script
    name, info = known["known"], known["info"]
    of_id = f"{name}={known['selected']}({{dashboardInfo:{info}}})=>{info}&&{info}.id)"
    drawn = re.compile(rf"(?<=[,(])(?P<loaded>\w+)&&{re.escape(name)}(?=\?)")
    return drawn.sub(rf"\g<loaded>&&{name}==={wanted['id']}", script.replace(known[0], of_id))


CHANGES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("*.entry.js", without_telemetry),
    ("*.entry.js", with_levels_by_severity),
    ("*.entry.js", with_seconds),
    ("*.entry.js", with_first_tabs),
    ("*.entry.js", without_earlier_path),
    ("*.chunk.js", with_short_ranges),
    ("*.chunk.js", with_titles_of_searched_columns),
    ("*.chunk.js", with_times_of_range),
    ("*.chunk.js", with_not_available),
    ("*.chunk.js", with_coloured_legend),
    ("*.chunk.js", without_other_dashboard),
)


HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{20}(?![0-9a-f])")
"""The hash in the name of a file. Scripts and the manifest name a file, or only its hash."""
NAMING = ("*.js", "manifest.json")
"""Files that name others."""


def change(directory: Path) -> list[str]:
    """Changes the files of a directory and returns the patterns of CHANGES that changed none."""
    before = _texts(directory)
    unchanged = [pattern for pattern, changed in CHANGES if not _change_all(directory, pattern, changed)]
    after = _texts(directory)
    _rename(directory, after, {name for name, text in after.items() if text != before[name]})
    return unchanged


def _texts(directory: Path) -> dict[str, str]:
    return {file.name: file.read_text() for pattern in NAMING for file in directory.glob(pattern)}


def _rename(directory: Path, texts: Mapping[str, str], changed: set[str]) -> None:
    """Gives the changed files, and those that name a renamed file, names with another hash."""
    named = {name: set(HASH.findall(text)) for name, text in texts.items()}
    renamed: set[str] = set()
    while more := {name for name in texts if name in changed or named[name] & _hashes(renamed)} - renamed:
        renamed |= more
    content = hashlib.sha256("".join(texts[name] for name in sorted(changed)).encode()).hexdigest()
    # One file may name another and be named by it: the new hash is that of all changes, not of one content.
    hashes = {old: hashlib.sha256(f"{old} {content}".encode()).hexdigest()[:20] for old in _hashes(renamed)}
    for name in sorted(renamed):
        _replace(directory / name, texts[name], _renamed(texts[name], hashes))
        (directory / name).rename(directory / _renamed(name, hashes))


def _hashes(names: set[str]) -> set[str]:
    return {found for name in names for found in HASH.findall(name)}


def _renamed(text: str, hashes: Mapping[str, str]) -> str:
    return HASH.sub(lambda found: hashes.get(found[0], found[0]), text)


def _change_all(directory: Path, pattern: str, changed: Callable[[str], str]) -> int:
    """Returns how many files were changed."""
    texts = [(script, script.read_text()) for script in directory.glob(pattern)]
    return sum(_replace(script, text, changed(text)) for script, text in texts)


def _replace(script: Path, text: str, new: str) -> bool:
    if new != text:
        replacement = script.with_suffix(".replacement")
        replacement.write_text(new)
        replacement.replace(script)
    return new != text


if __name__ == "__main__":
    unchanged = change(Path(sys.argv[1]))
    if unchanged:
        sys.exit(f"{sys.argv[1]}: no file {' and none '.join(unchanged)} contains what must be changed")
