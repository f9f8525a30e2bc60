"""Signs requests as PagerDuty, Opsgenie, Jira, ServiceNow and Slack do."""

from tailrace.alerts.callbacks import signatures

NOW = 1_772_359_200.0
"""2026-03-01 10:00:00 UTC."""
SECRET = b"correct horse battery staple"


def signed(kind: str, body: bytes, secret: bytes = SECRET, at: float = NOW) -> dict[str, str]:
    """The headers with which the tool sends a body."""
    own = {
        "Tailrace-Timestamp": f"{at:.0f}",
        "Tailrace-Signature": "sha256=" + signatures.hexadecimal(secret, b"%.0f." % at + body),
    }
    return {
        "pagerduty": {"X-PagerDuty-Signature": f"v1={signatures.hexadecimal(secret, body)}"},
        "opsgenie": {"Authorization": f"Bearer {secret.decode()}"},
        "jira": {"X-Hub-Signature": f"sha256={signatures.hexadecimal(secret, body)}"},
        "slack": {
            "X-Slack-Request-Timestamp": f"{at:.0f}",
            "X-Slack-Signature": "v0=" + signatures.hexadecimal(secret, b"v0:%.0f:" % at + body),
        },
        "servicenow": own,
        "webhook": own,
    }[kind]
