"""Copies the pages of the manual to a directory for MkDocs: `stage.py DIRECTORY`.

The pages are the Markdown files of the repository. Images and other files that they link to are copied, too.
A link to a directory becomes a link to its README.md, or plain text where the directory has none.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CODE = r"^(?P<fence>```|~~~).*?^(?P=fence)|`[^`\n]+`"
LINK = r"!?\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<to>[^)\s]+)\)"
SOURCE = r"(?:src|href)=\"(?P<source>[^\"]+)\""
CODE_OR_LINK = re.compile(f"{CODE}|{LINK}|{SOURCE}", re.MULTILINE | re.DOTALL)
NOT_PAGES = ("docs/plans/", ".github/", "dashboards/tests/")


def main(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    for page in pages():
        text = CODE_OR_LINK.sub(lambda found, page=page: resolved(found, page, directory), page.read_text())
        target = directory / page.relative_to(REPOSITORY)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def pages() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    )
    return [REPOSITORY / name for name in listed.stdout.splitlines() if not name.startswith(NOT_PAGES)]


def resolved(link: re.Match[str], page: Path, directory: Path) -> str:
    """The link for MkDocs; copies the file that it points to, unless that is a page. Code stays as it is."""
    address = link["to"] or link["source"]
    if address is None:
        return link[0]
    path = address.partition("#")[0]
    if not path or "://" in path or path.startswith("mailto:"):
        return link[0]
    target = (page.parent / path).resolve()
    if target.is_dir():
        readme = target / "README.md"
        return f"[{link['text']}]({path.rstrip('/')}/README.md)" if readme.exists() else link["text"]
    if any(part.startswith(".") for part in target.relative_to(REPOSITORY).parts):
        return link["text"]  # MkDocs leaves hidden files out
    if target.suffix != ".md":
        copy = directory / target.relative_to(REPOSITORY)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(target, copy)
    return link[0]


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
