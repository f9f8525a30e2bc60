"""Why a rule cannot fire, in the words of sql/queries/rule_coverage.sql, which writes it for a dashboard.

schemas/contracts/coverage_reason.json has the reasons of the detect job and both texts.
"""

import re

OTHER_EVENTS = "it matches other events; this log contains only events of the class "
"""As the detect job reports it (RuleCoverageEvaluator)."""
LOGS = {"audit": "audit log", "errorlog": "error log", "general": "general log", "slowlog": "slow query log"}

_LACKS = re.compile(r"it needs (.*?), which no event of this log has")
_LOG = re.compile(r"(^|; |: )(audit|errorlog|general|slowlog): ")


def in_few_words(reason: str) -> str:
    """Returns the reason of the detect job by log: `audit log: lacks program; error log: only events …`."""
    short = _LACKS.sub(r"lacks \1", reason.replace(OTHER_EVENTS, "only events of the class "))
    return _LOG.sub(lambda found: f"{found[1]}{LOGS[found[2]]}: ", short)
