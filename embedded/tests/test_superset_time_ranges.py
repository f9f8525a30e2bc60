"""What static_assets.py changes in Superset's scripts, and short time ranges (tailrace_time_ranges.py)."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.limits import LIMIT_SECONDS
from tailrace.config.resources import REPOSITORY
from tailrace_pages import formats

SUPERSET = REPOSITORY / "embedded" / "superset"
SET = 'd=new Set(["Last day","Last week"])'
LIST = 'c=[{value:"Last day",label:(0,r.t)("Last day")},{value:"Last week",label:(0,r.t)("Last week")}]'
SORT = (
    'default:{let e=new Intl.Collator(void 0,{numeric:!0,sensitivity:"base"});'
    "return l.sort((t,r)=>o?e.compare(t,r):e.compare(r,t))}"
)

FORMATS = (
    'registry.registerValue("$,0",a).registerValue("DURATION",(0,P.A)())'
    '.registerValue("DURATION_SUB",(0,P.A)({formatSubMilliseconds:!0}))'
)

TABLE = (
    "f=[{key:'user',label:'User'},{key:'cnt',label:'Count'}],g=n=>({columnKey:n.key}),"
    "h=(0,o.useMemo)(()=>f.map(g),[f,g]);"
    "let i=h.map(t=>({value:t.columnKey,label:t.columnKey}))"
)
"""A table's columns and the options of its search, in the words of the minifier."""


def _module(name: str):
    spec = importlib.util.spec_from_file_location(name, SUPERSET / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


static_assets, time_ranges = _module("static_assets"), _module("tailrace_time_ranges")


RANGE = (
    'const h=" : ",d=(e,t)=>e.replace("T00:00:00","")||(t?"-∞":"∞");'
    'const label=(e,t="col")=>{let r=e.split(h);return 1===r.length?e:`${d(r[0],!0)} ≤ ${t} < ${d(r[1])}`}'
)
NUMBER = 'if(null==a)t=(0,i.t)("No data");else if("number"==typeof a)t=n(a)'
OPTIONS = "const drawn=merge({},o,h.echartsOptionsOverrides||{})"
PATH = "let X=hash||0,Z=L.directPathToChild||[];X&&$[X]&&(Z=($[X].parents||[]).slice()).push(X)"
TABS = "const loaded={isRefreshing:!1,activeTabs:C||(null==L?void 0:L.activeTabs)||[]}"
PAGE = (
    "const page=()=>{let g=(0,d.d4)(({dashboardInfo:e})=>e&&Object.keys(e).length>0),z=!!_,"
    '{dashboard_title:P,id:F=0}=_||{};return shown(P,z&&g?"drawn":"loading")}'
)
"""Parts of the scripts for the text of a time range, for a single number, a chart, a loaded dashboard, and
the page of a dashboard."""


@pytest.fixture
def assets(tmp_path) -> Path:
    (tmp_path / "1.entry.js").write_text(f'e="{static_assets.TELEMETRY}"+f')
    (tmp_path / "4.entry.js").write_text(SORT)
    (tmp_path / "7.entry.js").write_text(FORMATS)
    (tmp_path / "2.chunk.js").write_text(f"a;{LIST};{SET}")
    (tmp_path / "5.chunk.js").write_text(TABLE)
    (tmp_path / "8.chunk.js").write_text(RANGE)
    (tmp_path / "9.chunk.js").write_text(NUMBER)
    (tmp_path / "10.chunk.js").write_text(OPTIONS)
    (tmp_path / "11.entry.js").write_text(TABS)
    (tmp_path / "12.entry.js").write_text(PATH)
    (tmp_path / "13.chunk.js").write_text(PAGE)
    (tmp_path / "3.chunk.js").write_text('case"Last day":return n')
    return tmp_path


def test_short_ranges_are_the_first_of_the_list(assets):
    assert static_assets.change(assets) == []
    text = (assets / "2.chunk.js").read_text()
    assert text == (
        'a;c=[{value:"Last 15 minutes",label:(0,r.t)("Last 15 minutes")},'
        '{value:"Last 1 hour",label:(0,r.t)("Last 1 hour")},'
        '{value:"Last 6 hours",label:(0,r.t)("Last 6 hours")},'
        '{value:"Current day",label:(0,r.t)("Today")},'
        '{value:"previous calendar day",label:(0,r.t)("Yesterday")},'
        + LIST.removeprefix("c=[")
        + ';d=new Set(["Last 15 minutes","Last 1 hour","Last 6 hours","Current day","previous calendar day",'
        + '"Last day","Last week"])'
    )
    assert static_assets.with_short_ranges(text) == text
    assert (assets / "3.chunk.js").read_text() == 'case"Last day":return n'


def test_series_with_levels_are_sorted_by_severity(assets):
    static_assets.change(assets)
    script = (assets / "4.entry.js").read_text()
    assert static_assets.with_levels_by_severity(script) == script, "it is changed once"
    names = ["medium", "db10", "low", "critical", "db9", "informational", "high"]
    run = f"const l={json.dumps(names)},o=!0;const f=()=>{{switch(1){{{script}}}}};console.log(f().join())"
    ran = subprocess.run(
        ["node", "-e", run], capture_output=True, text=True, check=True, timeout=LIMIT_SECONDS
    )
    assert ran.stdout.strip() == "db9,db10,critical,high,medium,low,informational"
    assert list(static_assets.LEVELS) == list(formats.LEVELS), "as on the work pages"


FORMATTER = """
const text={},registry={registerValue:(name,format)=>{text[name]=format;return registry}},a=0;
class Formatter{constructor(config){Object.assign(this,config)}}
const P={A:(config={})=>new Formatter({id:"duration_format",...config})};
"""
"""Superset's registry of formats and the class of its values, with the parts that the scripts use."""
DURATIONS = json.loads((REPOSITORY / "schemas" / "contracts" / "durations.json").read_text())


def test_dashboards_write_durations_as_the_work_pages_do(assets):
    static_assets.change(assets)
    script = (assets / "7.entry.js").read_text()
    assert static_assets.with_seconds(script) == script, "it is changed once"
    shown = f"{json.dumps(DURATIONS)}.map(value=>text.SECONDS.formatFunc(value))"
    run = f"{FORMATTER}{script};console.log(JSON.stringify([text.SECONDS.id,...{shown}]))"
    ran = subprocess.run(
        ["node", "-e", run], capture_output=True, text=True, check=True, timeout=LIMIT_SECONDS
    )
    name, *texts = json.loads(ran.stdout)
    assert name == "SECONDS"
    assert [text.replace("\xa0", " ") for text in texts] == [formats.duration(each) for each in DURATIONS]
    assert " " not in "".join(texts), "a number and its unit stay on one line"
    assert formats.duration(1234.5) == "20 min 35 s"
    assert formats.duration(42.65787) == "42.7 s"


def test_a_search_is_by_titles_of_columns(assets):
    static_assets.change(assets)
    script = (assets / "5.chunk.js").read_text()
    assert static_assets.with_titles_of_searched_columns(script) == script, "it is changed once"
    run = f"const o={{useMemo:make=>make()}},{script};console.log(JSON.stringify(i))"
    ran = subprocess.run(
        ["node", "-e", run], capture_output=True, text=True, check=True, timeout=LIMIT_SECONDS
    )
    assert json.loads(ran.stdout) == [{"value": "user", "label": "User"}, {"value": "cnt", "label": "Count"}]


def test_a_time_range_is_shown_as_on_the_work_pages(assets):
    static_assets.change(assets)
    script = (assets / "8.chunk.js").read_text()
    assert static_assets.with_times_of_range(script) == script, "it is changed once"
    ranges = [
        "2026-11-27T00:00:00 : 2026-11-28T09:30:15",
        "2026-11-27T00:00:00 : ",
        " : 2026-11-28T09:30:00",
        "Last week",
    ]
    assert answer(f"{script};console.log(JSON.stringify({json.dumps(ranges)}.map(each=>label(each))))") == [
        "2026-11-27 00:00 to 2026-11-28 09:30:15 UTC",
        "2026-11-27 00:00 to ∞ UTC",
        "-∞ to 2026-11-28 09:30 UTC",
        "Last week",
    ]


def test_an_unknown_single_number_is_not_available(assets):
    static_assets.change(assets)
    script = (assets / "9.chunk.js").read_text()
    assert static_assets.with_not_available(script) == script, "it is changed once"
    assert answer(f"let t,a=null,n=String;{script};console.log(JSON.stringify(t))") == "N/A"


def test_the_legend_of_a_heat_map_has_the_colour_of_texts(assets):
    static_assets.change(assets)
    script = (assets / "10.chunk.js").read_text()
    assert static_assets.with_coloured_legend(script) == script, "it is changed once"
    theme = 'const merge=Object.assign,h={colorText:"#fff"}'
    for options, drawn in (("{visualMap:{}}", {"visualMap": {"textStyle": {"color": "#fff"}}}), ("{}", {})):
        assert answer(f"{theme};const o={options};{script};console.log(JSON.stringify(drawn))") == drawn


def test_a_dashboard_begins_with_its_first_tab_or_that_of_a_permanent_link(assets):
    static_assets.change(assets)
    script = (assets / "11.entry.js").read_text()
    assert static_assets.with_first_tabs(script) == script, "it is changed once"
    before = 'const L={activeTabs:["TAB-traces-one-trace"]}'
    for given, shown in (("undefined", []), ('["TAB-traces-about"]', ["TAB-traces-about"])):
        opened = f"{before},C={given};{script};console.log(JSON.stringify(loaded.activeTabs))"
        assert answer(opened) == shown


def test_a_former_link_to_a_tab_does_not_choose_the_tab_of_a_dashboard(assets):
    static_assets.change(assets)
    script = (assets / "12.entry.js").read_text()
    assert static_assets.without_earlier_path(script) == script, "it is changed once"
    before = 'const L={directPathToChild:["TABS","TAB-one"]},$={"TAB-two":{parents:["TABS"]}}'
    for named, shown in (('""', []), ('"TAB-two"', ["TABS", "TAB-two"])):
        assert answer(f"{before},hash={named};{script};console.log(JSON.stringify(Z))") == shown


def test_a_dashboard_is_not_drawn_with_the_contents_of_another_one(assets):
    static_assets.change(assets)
    script = (assets / "13.chunk.js").read_text()
    assert static_assets.without_other_dashboard(script) == script, "it is changed once"
    before = "const d={d4:select=>select({dashboardInfo}),id:0},shown=(title,state)=>state"
    for known, shown in (("{}", "loading"), ("{id:1}", "loading"), ("{id:2}", "drawn")):
        opened = f'{before},dashboardInfo={known},_={{id:2,dashboard_title:"Alerts"}};{script}'
        assert answer(f"{opened};console.log(JSON.stringify(page()))") == shown
    assert (
        answer(f"{before},dashboardInfo={{}},_=null;{script};console.log(JSON.stringify(page()))")
        == "loading"
    )


def answer(script: str) -> object:
    """Returns what a script writes as JSON."""
    ran = subprocess.run(
        ["node", "-e", script], capture_output=True, text=True, check=True, timeout=LIMIT_SECONDS
    )
    return json.loads(ran.stdout)


def test_the_tracking_image_is_an_empty_one(assets):
    static_assets.change(assets)
    assert (assets / "1.entry.js").read_text() == f'e="{static_assets.EMPTY_IMAGE}"+f'


def test_a_linked_file_of_the_cache_stays_unchanged(assets):
    cached = assets / "cached"
    cached.hardlink_to(assets / "2.chunk.js")
    static_assets.change(assets)
    assert cached.read_text() == f"a;{LIST};{SET}"


def test_changed_files_and_those_that_name_them_get_other_addresses(assets):
    chunk, entry, main, other = ("c" * 20, "e" * 20, "a" * 20, "b" * 20)
    (assets / "2.chunk.js").rename(assets / f"{chunk}.chunk.js")
    (assets / "7.entry.js").rename(assets / f"616.{entry}.entry.js")
    (assets / f"spa.{main}.entry.js").write_text(f'load({{1:"{chunk}",2:"{other}"}}[e]+".chunk.js")')
    (assets / f"{other}.chunk.js").write_text("nothing to change")
    names = [f"616.{entry}.entry.js", f"spa.{main}.entry.js", f"{other}.chunk.js"]
    (assets / "manifest.json").write_text(json.dumps(names))
    static_assets.change(assets)
    formats_script, spa, kept = json.loads((assets / "manifest.json").read_text())
    assert kept == names[2]
    assert formats_script != names[0], "its content changed"
    assert spa != names[1], "it names a file whose content changed"
    assert "SECONDS" in (assets / formats_script).read_text()
    (loaded,) = {*static_assets.HASH.findall((assets / spa).read_text())} - {other}
    assert next(iter(static_assets.SHORT_RANGES)) in (assets / f"{loaded}.chunk.js").read_text()
    assert not any((assets / name).exists() for name in (*names[:2], f"{chunk}.chunk.js"))


def test_another_version_of_superset_is_an_error(assets):
    (assets / "2.chunk.js").unlink()
    done = subprocess.run(
        [sys.executable, SUPERSET / "static_assets.py", assets], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "no file *.chunk.js contains what must be changed" in done.stderr


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Last 6 hours", "Last 360 minutes"),
        ("Last 1 hour", "Last 60 minutes"),
        ("Last 15 minutes", "Last 15 minutes"),
        ("Last day", "Last day"),
        ("Last 6 hours : now", "Last 6 hours : now"),
        ("Current day", "DATETRUNC(DATETIME('today'), DAY) : DATETIME('now')"),
        (None, None),
    ],
)
def test_ranges_that_superset_interprets_otherwise(text, meant):
    assert time_ranges.as_superset_reads(text) == meant
