"""An issue of Jira Cloud per alert, by REST API version 3.

The label `tailrace-ID` finds the issue again. Its property `tailrace.alert` contains the count of the alert
when the issue was created, and each comment ends with the count that it reports. A repeated attempt compares
both, so it neither creates a second issue nor repeats a comment.
"""

from tailrace.alerts.delivery import ecs, services
from tailrace.alerts.delivery.delivery_log import DELIVERED, REFUSED, Due, Outcome
from tailrace.alerts.delivery.http_sender import shown
from tailrace.alerts.delivery.rest import Rest, attempt
from tailrace.alerts.delivery.tickets import Jira
from tailrace.alerts.triage import LEVELS
from tailrace.clickhouse.client import Row
from tailrace.plural import counted

API = "/rest/api/3"
PROPERTY = "tailrace.alert"
LABEL = "tailrace"
DONE = "done"
"""The key of the category of statuses that mean no more work."""
MAX_SUMMARY = 255
MAX_TEXT = 8000
"""Characters of a statement, so that the description stays below Jira's limit of 32,767."""
COMMENTS = "100"

Node = dict[str, object]


class JiraSender:
    """Makes one attempt at a time."""

    def __init__(self, jira: Jira, dashboards: str) -> None:
        self._jira = jira
        self._dashboards = dashboards

    def send(self, due: Due) -> Outcome:
        """Creates, comments or closes the issue of the alert; raises nothing."""
        jira = self._jira
        rest = Rest(jira.url, jira.user, jira.secret_file, jira.timeout, jira.ca_file)
        return attempt(lambda: self._deliver(rest, due))

    def preview(self, due: Due) -> str:
        """Returns address and body of the request that creates the issue."""
        return shown(f"{self._jira.url}{API}/issue", new_issue(due, self._jira, self._dashboards))

    def _deliver(self, rest: Rest, due: Due) -> Outcome:
        issue = self._find(rest, due)
        if due.is_closed:
            return self._close(rest, issue)
        if issue is None:
            made = rest.call("POST", f"{API}/issue", new_issue(due, self._jira, self._dashboards))
            return Outcome(DELIVERED, f"created {made['key']}")
        return self._update(rest, issue, due)

    def _find(self, rest: Rest, due: Due) -> dict | None:
        """Returns the oldest issue of the alert."""
        question = {
            "jql": f'project = "{self._jira.project}" AND labels = "{label(due.id)}" ORDER BY created ASC',
            "fields": ["status"],
            "properties": [PROPERTY],
            "maxResults": 1,
        }
        return next(iter(rest.call("POST", f"{API}/search/jql", question)["issues"]), None)

    def _close(self, rest: Rest, issue: dict | None) -> Outcome:
        if issue is None:
            return Outcome(DELIVERED, "there is no issue")
        if _is_done(issue):
            return Outcome(DELIVERED, f"{issue['key']} is closed")
        return _move(rest, issue, self._jira.close_status, to_done=True)

    def _update(self, rest: Rest, issue: dict, due: Due) -> Outcome:
        if _is_done(issue):
            moved = _move(rest, issue, self._jira.reopen_status, to_done=False)
            if moved.outcome != DELIVERED:
                return moved
        if int(due.alert["count"]) > _count_at_creation(issue) and not _has_comment(rest, issue, due):
            body = {"body": _growth(due, self._dashboards)}
            rest.call("POST", f"{API}/issue/{issue['key']}/comment", body)
            return Outcome(DELIVERED, f"commented {issue['key']}")
        return Outcome(DELIVERED, f"{issue['key']} exists")


def _is_done(issue: dict) -> bool:
    return issue["fields"]["status"]["statusCategory"]["key"] == DONE


def _count_at_creation(issue: dict) -> int:
    return int(issue.get("properties", {}).get(PROPERTY, {}).get("count", 0))


def _has_comment(rest: Rest, issue: dict, due: Due) -> bool:
    """Returns whether a comment reports this count."""
    path = f"{API}/issue/{issue['key']}/comment"
    comments = rest.get(path, orderBy="-created", maxResults=COMMENTS)["comments"]
    mark = due.idempotency_key
    return any(mark in _texts(comment["body"]) for comment in comments)


def _texts(node: object) -> list[str]:
    """Returns the texts of a document in Atlassian Document Format."""
    if not isinstance(node, dict):
        return []
    own = [str(node["text"])] if "text" in node else []
    return own + [text for child in node.get("content") or [] for text in _texts(child)]


def _move(rest: Rest, issue: dict, status: str, to_done: bool) -> Outcome:
    """Moves an issue to the status with this name, or to the first one whose category is done or not."""
    path = f"{API}/issue/{issue['key']}/transitions"
    possible = rest.get(path)["transitions"]
    chosen = [each for each in possible if _leads(each, status, to_done)]
    if not chosen:
        wanted = f"status {status!r}" if status else f"status of {'' if to_done else 'no '}category Done"
        return Outcome(REFUSED, f"{issue['key']} has no transition to a {wanted}")
    rest.call("POST", path, {"transition": {"id": chosen[0]["id"]}})
    return Outcome(DELIVERED, f"moved {issue['key']} to {chosen[0]['to']['name']}")


def _leads(transition: dict, status: str, to_done: bool) -> bool:
    to = transition["to"]
    if status:
        return to["name"].casefold() == status.casefold()
    return (to["statusCategory"]["key"] == DONE) is to_done


def label(alert_id: str) -> str:
    """Returns the label by which an issue is found; `alert_id`: 32 hexadecimal digits."""
    return f"{LABEL}-{alert_id}"


def new_issue(due: Due, jira: Jira, dashboards: str) -> dict[str, object]:
    """Returns the body of the request that creates an issue."""
    alert = due.alert
    fields: dict[str, object] = {
        **jira.fields,
        "project": {"key": jira.project},
        "issuetype": {"name": jira.issue_type},
        "summary": _line(ecs.message(alert))[:MAX_SUMMARY],
        "description": _description(alert, dashboards),
        "labels": [*_given_labels(jira), LABEL, label(due.id)],
    }
    if jira.priorities:
        fields["priority"] = {"name": jira.priorities[LEVELS.index(str(alert["level"]))]}
    kept = {"id": due.id, "count": int(alert["count"])}
    return {"fields": fields, "properties": [{"key": PROPERTY, "value": kept}]}


def _given_labels(jira: Jira) -> list[str]:
    given = jira.fields.get("labels", [])
    return [str(each) for each in given] if isinstance(given, list) else []


def _line(text: str) -> str:
    """A summary has no line breaks."""
    return " ".join(text.split())


def _description(alert: Row, dashboards: str) -> Node:
    facts = {**services.facts(alert), "Database": alert["database"], "Program": alert["program"]}
    facts |= alert["facts"]
    statements = [_code(str(text)[:MAX_TEXT]) for text in alert["statements"][:1] if text]
    steps = [_heading("Next steps"), _items(alert["next_steps"])] if alert["next_steps"] else []
    known = {name: value for name, value in facts.items() if value and name != "Next step"}
    return _document(
        _paragraph(_text(ecs.message(alert))),
        _items([f"{name}: {value}" for name, value in known.items()]),
        *statements,
        *steps,
        *_link(alert, dashboards),
    )


def _growth(due: Due, dashboards: str) -> Node:
    message = _paragraph(
        _text(f"The alert represents {counted(int(due.alert['count']), 'match', 'matches')} now.")
    )
    mark = _paragraph(_text(due.idempotency_key, {"type": "code"}))
    return _document(message, *_link(due.alert, dashboards), mark)


def _document(*content: Node) -> Node:
    return {"type": "doc", "version": 1, "content": list(content)}


def _text(text: str, *marks: Node) -> Node:
    """A text node, which is plain text: nothing in it formats, links or mentions."""
    return {"type": "text", "text": text, **({"marks": list(marks)} if marks else {})}


def _paragraph(*content: Node) -> Node:
    return {"type": "paragraph", "content": list(content)}


def _heading(text: str) -> Node:
    return {"type": "heading", "attrs": {"level": 3}, "content": [_text(text)]}


def _items(texts: list[str]) -> Node:
    items = [{"type": "listItem", "content": [_paragraph(_text(str(text)[:MAX_TEXT]))]} for text in texts]
    return {"type": "bulletList", "content": items}


def _code(text: str) -> Node:
    return {"type": "codeBlock", "attrs": {"language": "sql"}, "content": [_text(text)]}


def _link(alert: Row, dashboards: str) -> list[Node]:
    href = ecs.link(alert, dashboards)
    mark = {"type": "link", "attrs": {"href": href}}
    return [_paragraph(_text("Open in Tailrace", mark))] if href else []
