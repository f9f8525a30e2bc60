"""Shows alerts and records actions on them, each with actor, time and reason.

An alert is identified by its id or a prefix of it. Without a subcommand, alerts that are not closed are
listed.
"""

import argparse
import difflib
import getpass
import sys
from datetime import UTC, datetime, timedelta

from confluent_kafka import Producer

from tailrace.alerts import formatting as alert_formatting
from tailrace.alerts import suppressions, triage
from tailrace.alerts.suppressions import Silence
from tailrace.alerts.triage import Action, AlertQuery
from tailrace.cli import output
from tailrace.cli.commands import alerts_channels, alerts_deliver, alerts_incidents, alerts_risk
from tailrace.cli.commands.alert_keys import KEYS, NULL_IF_EMPTY
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.cli.spans import seconds
from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.config import renamed
from tailrace.config.renamed import Renamed

HELP = "list, show, acknowledge, assign, close and suppress alerts"
EXAMPLES = (
    "tailrace alerts list --level high --since 24h",
    "tailrace alerts list --canary --since 7d",
    "tailrace alerts show 3fa9",
    'tailrace alerts acknowledge 3fa9 --reason "looking into it"',
    'tailrace alerts close 3fa9 81c0 --verdict benign --reason "planned migration, ticket 4711"',
    'tailrace alerts assign 3fa9 --to ann --reason "on call"',
    'tailrace alerts reopen 3fa9 --reason "it happened again"',
    'tailrace alerts comment 3fa9 --reason "the account belongs to the backup"',
    'tailrace alerts suppress --rule "Table dumped" --entity user=backup --for 2h --reason "restore test"',
    "tailrace alerts suppressions",
    'tailrace alerts unsuppress 9c41 --reason "the test has ended"',
    "tailrace alerts deliver --test on-call --send",
    "tailrace alerts channels",
    "tailrace alerts incidents --since 24h",
    'tailrace alerts close --incident 3fa9 --verdict true-positive --reason "account locked"',
    "tailrace alerts risk --entity user=mallory",
)
EXIT_CODES = {3: "the stack is not running"}
SEE_ALSO = ("tailrace rules", "tailrace detect", "docs/ALERTS.md")

ACCOUNT = "analyst"
VERDICTS = {verdict.replace(" ", "-"): verdict for verdict in triage.VERDICTS}
"""Verdicts as words of the command line."""
ACTIONS = {
    "acknowledge": "acknowledge alerts: record that a person works on them",
    "assign": "record who is responsible for alerts",
    "close": "close alerts that need no further work",
    "reopen": "reopen closed alerts",
    "comment": "add a comment without changing the state",
}

SHORT_ACTIONS = {"acknowledge": "ack"}
"""Short names of actions, which are also the values in alert_actions."""
OLD_SUBCOMMANDS = {
    "silence": Renamed("suppress"),
    "silences": Renamed("suppressions"),
    "unsilence": Renamed("unsuppress"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND")
    parser.set_defaults(doing="list")
    order = "list alerts, most severe first, then latest first; by default alerts that are not closed"
    _add_list_options(commands.add_parser("list", help=order))
    _add_list_options(parser)
    show = commands.add_parser("show", help="show everything that is stored about one alert")
    show.add_argument("id", metavar="ID", help="the alert's id, or a prefix of it")
    output.add_option(show)
    for action, purpose in ACTIONS.items():
        short = [SHORT_ACTIONS[action]] if action in SHORT_ACTIONS else []
        _configure_action(commands.add_parser(action, aliases=short, help=purpose), action)
    for name, (add, purpose) in SUPPRESSION_COMMANDS.items():
        add(commands.add_parser(name, help=purpose))
    alerts_deliver.configure(commands.add_parser("deliver", help=alerts_deliver.PURPOSE))
    alerts_channels.configure(commands.add_parser("channels", help=alerts_channels.PURPOSE))
    alerts_incidents.configure(commands.add_parser("incidents", help=alerts_incidents.PURPOSE))
    alerts_risk.configure(commands.add_parser("risk", help=alerts_risk.PURPOSE))
    for old, new in OLD_SUBCOMMANDS.items():
        add, _ = SUPPRESSION_COMMANDS[new.name]
        add(commands.add_parser(old))  # without help, so that the list of subcommands does not contain it


def _add_list_options(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--open", action="store_true", help="only unacknowledged alerts")
    which.add_argument("--all", action="store_true", help="also closed and suppressed alerts")
    which.add_argument(
        "--canary", action="store_true", help="alerts of canary rules, which Tailrace does not deliver"
    )
    parser.add_argument(
        "--since", type=seconds, default=0, metavar="SPAN", help="detected in the last 30m, 24h, 7d …"
    )
    parser.add_argument("--rule", default="", help="the rule's id, or a part of its title")
    parser.add_argument("--level", choices=triage.LEVELS, default="", help="minimum level")
    _add_entity(parser)
    parser.add_argument("--limit", type=_limit, default=50, metavar="N", help="show at most N (default: 50)")
    output.add_option(parser)


def _configure_action(parser: argparse.ArgumentParser, action: str) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="an alert's id, or a prefix of it")
    parser.add_argument(
        "--incident", action="store_true", help="act on the alerts of their incidents whose state allows it"
    )
    if action == "assign":
        parser.add_argument("--to", required=True, type=_text, metavar="NAME", help="the responsible person")
    if action == "close":
        parser.add_argument("--verdict", choices=VERDICTS, help="what the alerts were")
    _add_actor_and_reason(parser)


def _configure_suppress(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rule", default="", help="the rule's id, or a part of its title")
    _add_entity(parser)
    parser.add_argument(
        "--for", dest="span", type=seconds, required=True, metavar="SPAN", help="how long: 30m, 2h, 7d …"
    )
    _add_actor_and_reason(parser)


def _configure_suppressions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="also list past ones")
    output.add_option(parser)


def _configure_unsuppress(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the suppression's id, or a prefix of it")
    _add_actor_and_reason(parser)


SUPPRESSION_COMMANDS = {
    "suppress": (_configure_suppress, "stop delivering the alerts of a rule or an entity"),
    "suppressions": (_configure_suppressions, "list active suppressions"),
    "unsuppress": (_configure_unsuppress, "end a suppression early"),
}


def _add_entity(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--entity", action="append", type=_pair, default=[], metavar="FIELD=VALUE", help="such as user=backup"
    )


def _add_actor_and_reason(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reason", required=True, type=_text, metavar="TEXT", help="the reason; never deleted"
    )
    parser.add_argument("--actor", type=_text, metavar="NAME", help="your name (default: your login name)")


def _limit(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 100000, found {text!r}")
    return int(text)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"expected FIELD=VALUE such as user=backup, found {text!r}")
    return name, value


class _EntityError(ValueError):
    """The value of --entity is invalid; the message is shown to the user."""


def _entity(arguments: argparse.Namespace, clickhouse: ClickHouse) -> dict[str, str]:
    """Parses --entity. Raises _EntityError for a field that is given twice, or that no alert has."""
    given = [name for name, _ in arguments.entity]
    for name in given:
        if given.count(name) > 1:
            raise _EntityError(f"--entity contains {name} twice")
    known = triage.entity_fields(clickhouse) if given else ()
    for name in given:
        if name not in known:
            (nearest,) = difflib.get_close_matches(name, known, n=1, cutoff=0)
            raise _EntityError(f"alerts have no field {name!r}; the nearest is {nearest!r}")
    return dict(arguments.entity)


def _text(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("expected text, found none")
    return text.strip()


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    doing = {
        "list": _list,
        "show": _show,
        "suppress": _suppress,
        "suppressions": _suppressions,
        "unsuppress": _unsuppress,
        "deliver": alerts_deliver.run,
        "channels": alerts_channels.run,
        "incidents": alerts_incidents.run,
        "risk": alerts_risk.run,
    }
    arguments.doing = renamed.new_name(arguments.doing, (), OLD_SUBCOMMANDS, renamed.to_stderr)
    try:
        return doing.get(arguments.doing, _act)(arguments, context)
    except _EntityError as error:
        print(f"tailrace: {error}", file=sys.stderr)
        return Exit.USAGE


def _list(arguments: argparse.Namespace, context: Context) -> Exit:
    clickhouse = context.clickhouse(ACCOUNT)
    states = (triage.OPEN,) if arguments.open else (triage.OPEN, triage.ACKNOWLEDGED)
    query = AlertQuery(
        states=() if arguments.all or arguments.canary else states,
        silenced=arguments.all or arguments.canary,
        canary=arguments.canary,
        since_seconds=arguments.since,
        rule=arguments.rule,
        level=arguments.level,
        entity=_entity(arguments, clickhouse),
    )
    rows, total = triage.list_worst(clickhouse, query, arguments.limit)
    if arguments.output == output.JSON:
        output.write_json({"shown": len(rows), "total": total, "alerts": [_json(row) for row in rows]})
    elif arguments.output == output.CSV:
        output.write_csv(KEYS["list"], rows)
    else:
        alert_formatting.show_list(rows, total)
    return Exit.OK


def _show(arguments: argparse.Namespace, context: Context) -> Exit:
    details = triage.read(context.clickhouse(ACCOUNT), arguments.id)
    base = context.superset_address()
    known = {**details.alert, **details.state, "actions": details.actions, "deliveries": details.deliveries}
    known["link"] = base + str(known["link_path"])
    if arguments.output == output.JSON:
        output.write_json(_json(known))
    elif arguments.output == output.CSV:
        output.write_csv(KEYS["show"], [known])
    else:
        alert_formatting.print_details(details, base)
    return Exit.OK


def _json(row: Row) -> Row:
    """Returns a row with null in place of an empty text that means none or unknown."""
    return {name: output.known(value) if name in NULL_IF_EMPTY else value for name, value in row.items()}


def _act(arguments: argparse.Namespace, context: Context) -> Exit:
    assignee = arguments.to if arguments.doing == "assign" else ""
    verdict = VERDICTS[arguments.verdict] if getattr(arguments, "verdict", None) else ""
    doing = SHORT_ACTIONS.get(arguments.doing, arguments.doing)
    action = Action(doing, _actor(arguments), arguments.reason, assignee, verdict)
    clickhouse, ids = context.clickhouse(ACCOUNT), arguments.ids
    if arguments.incident:
        ids = alerts_incidents.alerts_of(clickhouse, ids, doing, verdict)
    for id_ in triage.record_action(clickhouse, ids, action):
        print(f"{id_[: alert_formatting.SHORT_ID]}  {action.action} by {action.actor}: {action.reason}")
    return Exit.OK


def _suppress(arguments: argparse.Namespace, context: Context) -> Exit:
    if not arguments.rule and not arguments.entity:
        print("tailrace: give --rule, --entity or both", file=sys.stderr)
        return Exit.USAGE
    clickhouse = context.clickhouse(ACCOUNT)
    silence = Silence(
        rule=suppressions.rule_id(clickhouse, arguments.rule) if arguments.rule else "",
        entity=_entity(arguments, clickhouse),
        until=datetime.now(UTC) + timedelta(seconds=arguments.span),
        actor=_actor(arguments),
        reason=arguments.reason,
    )
    id_ = suppressions.suppress(clickhouse, _producer(context), silence)
    print(f"{id_[: alert_formatting.SHORT_ID]}  suppressed until {silence.until:%Y-%m-%d %H:%M:%S} UTC")
    return Exit.OK


def _suppressions(arguments: argparse.Namespace, context: Context) -> Exit:
    rows = suppressions.history(context.clickhouse(ACCOUNT), arguments.all)
    if arguments.output == output.JSON:
        output.write_json([_json(row) for row in rows])
    elif arguments.output == output.CSV:
        output.write_csv(KEYS["suppressions"], rows)
    else:
        alert_formatting.show_silences(rows)
    return Exit.OK


def _unsuppress(arguments: argparse.Namespace, context: Context) -> Exit:
    clickhouse = context.clickhouse(ACCOUNT)
    producer = _producer(context)
    id_ = suppressions.lift(clickhouse, producer, arguments.id, _actor(arguments), arguments.reason)
    print(f"{id_[: alert_formatting.SHORT_ID]}  ended")
    return Exit.OK


def _actor(arguments: argparse.Namespace) -> str:
    return arguments.actor or getpass.getuser()


def _producer(context: Context) -> Producer:
    return suppressions.producer(context.kafka("rules"))
