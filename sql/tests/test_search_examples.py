"""What the examples of the page Search find."""

from datetime import timedelta

from security_rows import NOW, audit, denied_message, refused

from tailrace.search import SECURITY, Request, listing, parse
from tailrace.search.over_http import rows_of
from tailrace_pages.search import asking

ACCOUNTS = (
    "grant select on *.* to `a`@`%`",
    "revoke select on *.* from `a`@`%`",
    "create user `a`@`%` identified ?",
    "create or replace user `a`@`%` identified ?",
    "drop user if exists `a`@`%`",
    "alter user `a`@`%` account lock",
    "rename user `a`@`%` to `b`@`%`",
    "set password for `a`@`%` ?",
    "create role `r`",
    "drop role `r`",
    "set default role all to `a`@`%`",
)
OTHERS = ("create table users (id int)", "set names utf8", "select user()", "drop table user")


def found(user, text: str) -> list[dict]:
    asked = Request(parse(text), SECURITY, NOW + timedelta(minutes=1))
    return listing(rows_of(user("reader_security")), asked).events


def of(what: str) -> list[str]:
    return [text for text, meaning in asking.EXAMPLES if meaning.startswith(what)]


def test_changes_of_accounts_and_privileges_are_found(stored, admin, user):
    texts = dict(enumerate((*ACCOUNTS, *OTHERS), start=1))
    at = f"{NOW:%Y-%m-%d %H:%M:%S}"
    admin.insert(
        "tailrace.fingerprints",
        [
            {"query_id": id_, "rule_set": "r", "fingerprint": text, "seen_at": at}
            for id_, text in texts.items()
        ],
    )
    stored(
        "audit_events",
        *(audit(30, query_id=id_, verb=text.split()[0].upper()) for id_, text in texts.items()),
    )
    (example,) = of("changes of accounts")
    assert sorted(event["text"] for event in found(user, example)) == sorted(ACCOUNTS)


def test_a_refused_login_of_two_logs_counts_once_with_one_kind_of_log(stored, user):
    stored("audit_events", refused(30, user="ann"))
    stored("error_events", denied_message(30, user="ann"))
    both, once = (text.partition("|")[0] for text in (*of("clients with the most"), *of("the same in audit")))
    assert (len(found(user, both)), len(found(user, once))) == (2, 1)
