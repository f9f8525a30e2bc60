"""The list of rules: what stands for the last alert of a rule that has none."""

from tailrace_pages.rules import listing


def covered(rule: str, *can_fire: bool) -> list[dict]:
    return [{"rule_id": rule, "title": rule, "level": "low", "can_fire": able} for able in can_fire]


def test_a_rule_that_can_fire_nowhere_is_not_shown_as_one_without_alerts():
    found = listing.rules({}, (), [*covered("nowhere", False, False), *covered("somewhere", False, True)])
    shown = {row["rule_id"]: (row["last_shown"], row["servers"]) for row in found}
    assert shown == {"nowhere": ("cannot fire", "0 of 2"), "somewhere": ("none", "1 of 2")}
