"""A canary rule is promoted in its file, and everything else stays as it was."""

import re
from pathlib import Path

import pytest

from tailrace.config.resources import REPOSITORY
from tailrace.rules import promotion
from tailrace.rules.promotion import PromotionError

RULE = """\
title: {title}
id: {id}
{tags}level: high   # a comment
detection:
  selection: {{user: root}}
  condition: selection
"""
IDS = ("5f0c1f0e-6a2c-4f0c-9a51-0f4f7a3d1c11", "5f0c1f0e-6a2c-4f0c-9a51-0f4f7a3d1c12")


def rule(tags: str, number: int = 0, title: str = "Dump") -> str:
    return RULE.format(title=title, id=IDS[number], tags=tags)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tags: [attack.t1110, tailrace.canary]\n", "tags: [attack.t1110]\n"),
        ("tags: [tailrace.canary, attack.t1110]  # x\n", "tags: [attack.t1110]  # x\n"),
        ("tags: [a.b, 'tailrace.canary', c.d]\n", "tags: [a.b, c.d]\n"),
        ("tags: [tailrace.canary]\n", "tags: []\n"),
        ("tags:\n  - attack.t1110\n  - tailrace.canary  # new\n", "tags:\n  - attack.t1110\n"),
        ("tags:\n- tailrace.canary\n- attack.t1110\n", "tags:\n- attack.t1110\n"),
        ("tags:\n    - tailrace.canary\n", ""),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_the_tag_is_removed(tmp_path, before, after, newline):
    other = rule("tags: [tailrace.canary]\n", 1, "Other")
    file = tmp_path / "a.yml"
    file.write_text(f"{rule(before)}---\n{other}", newline=newline)
    assert promotion.promote(tmp_path, "dump") == file
    assert file.read_bytes().decode() == f"{rule(after)}---\n{other}".replace("\n", newline)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Missing", "contains no canary rule 'Missing'"),
        ("Ordinary", "contains no canary rule 'Ordinary'"),
        ("Dump", "2 canary rules are called 'Dump', in .*; give the id"),
    ],
)
def test_the_name_must_be_that_of_one_canary_rule(tmp_path, name, message):
    tags = "tags: [tailrace.canary]\n"
    text = "---\n".join((rule(tags), rule(tags, 1), rule("tags: [a.b]\n", title="Ordinary")))
    (tmp_path / "a.yml").write_text(text)
    with pytest.raises(PromotionError, match=message):
        promotion.promote(tmp_path, name)
    promotion.promote(tmp_path, IDS[1])
    assert (tmp_path / "a.yml").read_text().count("tailrace.canary") == 1


def test_the_detect_job_has_the_same_tag():
    header = "stream-jobs/detection/src/main/java/io/tailrace/detection/sigma/rule/RuleHeader.java"
    (tag,) = re.findall(r'CANARY_TAG = "(.+)";', (REPOSITORY / Path(header)).read_text())
    assert tag == promotion.TAG
