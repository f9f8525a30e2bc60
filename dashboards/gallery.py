"""Takes the gallery of all dashboards and work pages from the running demo, and writes docs/GALLERY.md.

python -m dashboards.gallery URL SECRETS RAW [NAME...] runs tests/gallery.mjs, which writes pictures of two
sizes and both themes to RAW, and reduces them to docs/images/gallery/THEME-WIDTHxHEIGHT/NAME.webp: lossless
WebP, which takes a third of the bytes of PNG. SECRETS is the directory with the passwords
of Superset's users, in the demo's home. With RESUME=1 it takes only pictures that are in neither directory.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml
from PIL import Image

from dashboards.screenshots import IMAGES, TESTS, TIMEOUT_MS

DASHBOARDS = Path(__file__).parent / "dashboards"
GALLERY = IMAGES / "gallery"
PAGE = IMAGES.parent / "GALLERY.md"
KINDS = ("light-1440x900", "light-1920x1080", "dark-1440x900", "dark-1920x1080")
PAGES = {
    "page-alerts": "Alert inbox",
    "page-alert": "One alert",
    "other-incidents": "Incidents",
    "other-incident": "One incident",
    "other-risk": "Risk scores",
    "page-search": "Search",
    "other-timeline": "Search: number of events per hour",
    "other-top": "Search: users with the most events",
    "other-saved": "Saved searches",
    "other-rules": "Rules",
    "other-rule": "One rule",
    "page-queries": "Queries",
    "page-query": "One statement",
    "other-entities": "Users and clients",
    "other-user": "One user",
    "page-client": "One client",
    "other-table": "One table",
    "other-class": "One data class",
    "other-session": "One session",
    "page-evidence": "Evidence",
    "other-rows": "Rows of a requirement",
    "page-retention": "Retention",
    "other-hold": "New legal hold",
    "page-setup": "Setup",
    "other-server": "Setup of one server",
}
"""Titles of the work pages of tests/pictured_pages.mjs, in the order of the page."""
HEAD = """# Gallery

This page shows each dashboard and each work page of the demo (`make demo`) in a window of 1,440 by 900 and of
1,920 by 1,080 pixels, in the light and the dark theme. Select a picture to see it in its own size.
`make screenshots-all` writes the pictures and this page. [DASHBOARDS.md](DASHBOARDS.md) and
[WORK-PAGES.md](WORK-PAGES.md) explain what they show.
"""


def take(url: str, secrets: str, raw: Path, names: list[str]) -> bool:
    """Returns whether all pictures are there; the browser prints the errors."""
    environment = {
        **os.environ,
        "SUPERSET_URL": url,
        "SECRETS": secrets,
        "KEPT": str(GALLERY),
        "BROWSER_TIMEOUT_MS": os.environ.get("BROWSER_TIMEOUT_MS", str(TIMEOUT_MS)),
    }
    return subprocess.run(["node", "gallery.mjs", raw, *names], cwd=TESTS, env=environment).returncode == 0


def reduce(taken: Path, kept: Path) -> None:
    """Writes a picture with all its colours: a palette would merge those of series with few pixels."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(taken) as image:
        image.convert("RGB").save(kept, "WEBP", lossless=True, quality=80, method=4)


def keep(raw: Path, gallery: Path) -> None:
    """Reduces the pictures that are newer than their reduced ones."""
    for taken in sorted(raw.glob("*x*/*.png")):
        kept = gallery / taken.parent.name / f"{taken.stem}.webp"
        if not kept.exists() or kept.stat().st_mtime < taken.stat().st_mtime:
            reduce(taken, kept)


def titles() -> dict[str, dict[str, str]]:
    """Returns the titles of what the gallery shows, by heading and name of the picture."""
    loaded = [yaml.safe_load(file.read_text()) for file in DASHBOARDS.glob("*.yaml")]
    named = {each["slug"]: each["dashboard_title"] for each in loaded}
    return {
        "Dashboards": dict(sorted(named.items(), key=lambda each: each[1].casefold())),
        "Work pages": PAGES,
    }


def page(parts: Mapping[str, Mapping[str, str]]) -> str:
    """Returns the text of docs/GALLERY.md."""
    lines = [HEAD]
    for heading, named in parts.items():
        lines += [f"## {heading}", ""]
        for name, title in named.items():
            lines += [f"### {title}", "", *_table(name, title), ""]
    return "\n".join(lines)


def _table(name: str, title: str) -> list[str]:
    cells = [
        f"[![{title}, {theme}, {size}]({path})]({path})"
        for kind in KINDS
        for theme, size, path in [(*kind.split("-"), f"images/gallery/{kind}/{name}.webp")]
    ]
    light, dark = cells[:2], cells[2:]
    return [
        "| | 1440x900 | 1920x1080 |",
        "|---|---|---|",
        f"| light | {' | '.join(light)} |",
        f"| dark | {' | '.join(dark)} |",
    ]


def main() -> None:
    url, secrets, directory, *names = sys.argv[1:]
    raw = Path(directory)
    try:
        complete = take(url, secrets, raw, names)
    finally:  # also after Ctrl-C
        keep(raw, GALLERY)
        PAGE.write_text(page(titles()))
    if not complete:
        sys.exit("not all pictures could be taken: see above")


if __name__ == "__main__":
    main()
