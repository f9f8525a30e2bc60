"""The parameters of the queries of evidence, for bundles and for the dashboards' page."""

from functools import cache

from tailrace.evidence.framework import Framework
from tailrace.evidence.period import Period
from tailrace.migrations.runner import load_retention


@cache
def retention() -> dict[str, int]:
    """Returns the retention policy in days by table."""
    return load_retention()


def parameters(framework: Framework, period: Period) -> dict[str, object]:
    """Returns the parameters of all queries of a framework."""
    days = retention()
    return {
        **period.parameters(),
        **framework.parameters,
        "instance": "",
        "audit_days": days["audit_events"],
        "error_days": days["error_events"],
        "access_days": days["data_access"],
    }
