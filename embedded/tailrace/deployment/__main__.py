"""`python -m tailrace.deployment`: the start-up steps of the components, one per command, for containers and
Kubernetes, which run the components themselves.

Each command does what the supervisor does at a component's start, at the given addresses. A second run
changes nothing. The settings are those of the local stack (`bin/tailrace settings`). Passwords are files of
one directory, with the same names as in `secrets/` of the home directory.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tailrace.cli import remote
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse import row_policies
from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.clickhouse.server_config import LOOPBACK, configuration_text, users_text
from tailrace.config import renamed
from tailrace.config.home import Home
from tailrace.config.renamed import Renamed
from tailrace.config.settings import Settings, SettingsError
from tailrace.config.template import write_private
from tailrace.config.yaml_reader import ConfigurationError
from tailrace.credentials.certificates import HOSTS, Certificates
from tailrace.credentials.names import password_name
from tailrace.dashboards import roles as dashboard_roles
from tailrace.dashboards.asset_files import AssetError
from tailrace.dashboards.connections import ADMINISTRATOR, PASSWORD, USERS, connections_to, password_of
from tailrace.dashboards.superset_client import Client, SupersetError
from tailrace.demo import container as demo_container
from tailrace.deployment import options
from tailrace.erasure import vault
from tailrace.errors import ReportedError
from tailrace.kafka import accounts as kafka_accounts
from tailrace.kafka import client as kafka_client
from tailrace.kafka import topics
from tailrace.migrations import rebalancing_step, reconciliation_step
from tailrace.migrations import runner as migration_runner
from tailrace.migrations.migration_files import MigrationError
from tailrace.migrations.servers import layout_of
from tailrace.programs.archive import ArchiveProgram
from tailrace.programs.callbacks import CallbackProgram
from tailrace.programs.capture import CaptureProgram
from tailrace.programs.census import CensusProgram
from tailrace.programs.delivery import DeliveryProgram
from tailrace.programs.evidence import EvidenceProgram
from tailrace.programs.explain import ExplainProgram
from tailrace.programs.fingerprint import FingerprintProgram
from tailrace.programs.fluentbit import CollectorError, FluentBitProgram
from tailrace.programs.forwarding import ForwardingProgram
from tailrace.programs.pull import PullProgram
from tailrace.programs.repair import RepairProgram
from tailrace.programs.snapshots import SnapshotProgram
from tailrace.programs.transparency import TransparencyProgram, WitnessProgram
from tailrace.rules import push as rule_push
from tailrace.signing import local_key, publication, registry
from tailrace.sources import sources_file
from tailrace.sources.sources_file import SourcesError
from tailrace.transparency import provisioning

DESCRIPTION = (__doc__ or "").strip()

SERVER_LISTENERS = (
    "<listen_host>0.0.0.0</listen_host><http_port>8123</http_port><tcp_port>9000</tcp_port>"
    "<path>/var/lib/clickhouse/</path><tmp_path>/var/lib/clickhouse/tmp/</tmp_path>"
    "<user_files_path>/var/lib/clickhouse/user_files/</user_files_path>"
    "<format_schema_path>/var/lib/clickhouse/format_schemas/</format_schema_path>"
)
"""The ports and directories of ClickHouse's packages and image."""

RUNNABLE: dict[str, type[CensusProgram | CaptureProgram | FingerprintProgram | PullProgram]] = {
    "census": CensusProgram,
    "capture": CaptureProgram,
    "fingerprint": FingerprintProgram,
    "pull": PullProgram,
}
"""Programs whose command follows from the settings; that of `pull` also needs Kafka."""
PULLER = "compose"
"""Name of the puller of containers, which is part of the names of its host key and its Kafka transactions."""
HEALTH_CHECKS = {
    **RUNNABLE,
    "archive": ArchiveProgram,
    "explain": ExplainProgram,
    "facts": SnapshotProgram,
    "delivery": DeliveryProgram,
    "callbacks": CallbackProgram,
    "forwarding": ForwardingProgram,
    "evidence": EvidenceProgram,
    "repair": RepairProgram,
    "transparency": TransparencyProgram,
    "witness": WitnessProgram,
}
"""Programs that report their health in a file under the home directory, or on a socket in it."""

OLD_OPTIONS = {
    "--readable": Renamed("--readable-by"),
    "--seen-as": Renamed("--clickhouse-path"),
}
"""Options that were renamed."""

FAILURES = (
    AssetError,
    ClickHouseError,
    CollectorError,
    ConfigurationError,
    MigrationError,
    ReportedError,
    SettingsError,
    SourcesError,
    SupersetError,
)


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code."""
    arguments = renamed.parse(_parser(), OLD_OPTIONS, words)
    try:
        settings = Settings.from_environment()
        arguments.run(arguments, settings, Home(settings.home))
    except KafkaException as error:
        return _failed(error.args[0].str())
    except (*FAILURES, OSError) as error:
        return _failed(error)
    return Exit.OK


def apply_topics(arguments: argparse.Namespace, settings: Settings, home: Home) -> None:
    """Creates and alters Kafka's topics, and optionally its accounts, to match schemas/."""
    admin = AdminClient(kafka_client.from_arguments(arguments).settings({}))
    if arguments.accounts:
        kafka_accounts.apply_accounts(admin, kafka_accounts.accounts(), _secrets(arguments))
    topics.apply(admin, topics.load())


def make_certificates(arguments: argparse.Namespace, settings: Settings, home: Home) -> None:
    """Creates an authority and certificates in secrets/tls of the home directory if there are none.

    Files that services mount are readable for all users who reach them: each service runs as another user.
    """
    made = Certificates(home, (*HOSTS, *arguments.host))
    made.make()
    if arguments.renew:
        made.renew()
    for path in (made.trust, *map(made.file, arguments.readable_by)):
        path.chmod(0o444)


def make_pseudonym_keys(arguments: argparse.Namespace, settings: Settings, home: Home) -> None:
    """Creates missing keys of pseudonyms and of the vault of names in secrets/ of the home directory.

    The files of the jobs are readable for all users who reach them: each service runs as another user.
    """
    files = vault.make_keys(home)
    for path in (files.pseudonyms, files.public):
        path.chmod(0o444)


def push_rules(arguments: argparse.Namespace, settings: Settings, home: Home) -> None:
    """Pushes the repository's rules if no rules were ever pushed."""
    rule_push.push_first(kafka_client.from_arguments(arguments), home.run)


def publish_host_keys(arguments: argparse.Namespace, settings: Settings, home: Home) -> None:
    """Publishes the registered public keys of hosts to the normalize job (docs/SIGNING.md)."""
    text = arguments.json or registry.Registry(home).text()
    publication.publish(kafka_client.from_arguments(arguments), text)


def run_command(arguments: argparse.Namespace, settings: Settings, home: Home) -> NoReturn:
    """Runs a command of the command line with servers elsewhere, such as `tokens list`."""
    kafka = kafka_client.from_arguments(arguments) if arguments.kafka else None
    sys.exit(remote.run(arguments.words, arguments.clickhouse, arguments.secrets, kafka))


def migrate(arguments: argparse.Namespace, settings: Settings, home: Home) -> None:
    """Applies sql/migrations as ClickHouse's user admin."""
    first, layout = _servers(arguments)
    migration_runner.apply(first, arguments.cluster, arguments.writers_stopped, print, **layout)


def apply_retention(arguments: argparse.Namespace, settings: Settings, home: Home) -> None:
    """Applies retention, legal holds and the archive's progress to every server; run it each day."""
    first, layout = _servers(arguments)
    migration_runner.apply_retention(first, arguments.cluster, print, **layout)


def _servers(arguments: argparse.Namespace) -> tuple[ClickHouse, dict[str, Any]]:
    password = _secrets(arguments)(password_name("admin"))
    servers = [ClickHouse(url, "admin", password) for url in arguments.clickhouse]
    return servers[0], layout_of(servers, arguments.cluster, arguments.sharded, arguments.replicated)


def reconcile(arguments: argparse.Namespace, settings: Settings, home: Home) -> None:
    """Compares events with rollups and receipts on every server of ClickHouse; with --repair corrects those.

    On one server they differ only during an insert. --repair needs all writers to be stopped: suspend the
    jobs after they have committed everything.
    """
    reconciliation_step.run(arguments, _secrets(arguments))


def rebalance(arguments: argparse.Namespace, settings: Settings, home: Home) -> None:
    """Moves rows to the shards that store them after shards were added, removed, or got other weights.

    Needs all writers to be stopped: suspend the jobs after they have committed everything. A run that was
    interrupted is continued by the next one.
    """
    rebalancing_step.run(arguments, _secrets(arguments))


def publish_dashboards(arguments: argparse.Namespace, settings: Settings, home: Home) -> None:
    """Imports dashboards and roles into Superset, and creates missing users, one for each audience."""
    secret = _secrets(arguments)
    client = Client(arguments.superset.rstrip("/"), ADMINISTRATOR, secret(PASSWORD))
    connections = connections_to(arguments.clickhouse, secret, arguments.clickhouse_tls)
    for line in dashboard_roles.publish(client, connections, row_policies.load(settings.access)):
        print(line)
    for user in USERS:
        role = dashboard_roles.load()[user].name
        dashboard_roles.ensure_user(client, user, role, secret(password_of(user)), reset=False)


def write_clickhouse(arguments: argparse.Namespace, settings: Settings, home: Home) -> None:
    """Writes ClickHouse's config.xml and users.xml, readable only for the current user."""
    listed = row_policies.load(settings.access)
    networks = [LOOPBACK, *arguments.network]
    secret = _secrets(arguments)
    text = users_text(secret, settings.memory_clickhouse, networks, listed, arguments.sharded)
    write_private(arguments.to / "users.xml", text)
    seen = (arguments.clickhouse_path or arguments.to) / "users.xml"
    text = configuration_text(SERVER_LISTENERS, seen, settings.memory_clickhouse)
    write_private(arguments.to / "config.xml", text)


def write_collector(arguments: argparse.Namespace, settings: Settings, home: Home) -> None:
    """Writes the files that the collector's services read; optionally with logs to show.

    --demo writes two days of a shop, as `tailrace demo` does, but without the gap in a log, which needs a
    command. --samples writes the real logs of samples/. Neither writes anything where one of them has before.
    """
    sources_file.make_empty(settings.sources)
    if (arguments.demo or arguments.samples) and not _shows_logs(settings, home):
        feed = demo_container.feed_samples if arguments.samples else demo_container.feed_shop
        for line in feed(kafka_client.from_arguments(arguments), settings, home):
            print(line)
    for kind in (FluentBitProgram, CensusProgram, CaptureProgram, ExplainProgram, RepairProgram, PullProgram):
        program = kind(settings, home)
        if program.configured():
            program.prepare()
            if kind is PullProgram and settings.sign_logs:
                local_key.of_pull(home, PULLER).ensure()


def _shows_logs(settings: Settings, home: Home) -> bool:
    """Returns whether the list has logs that --demo or --samples wrote."""
    return any(log.path.is_relative_to(home.watch) for log in sources_file.load(settings.sources))


def run_part(arguments: argparse.Namespace, settings: Settings, home: Home) -> NoReturn:
    """Replaces this process by a component's program, in the directory in which the supervisor starts it."""
    part = RUNNABLE[arguments.part](settings, home)
    if isinstance(part, PullProgram):
        words = part.command_with(PULLER, kafka_client.as_words(arguments))
    else:
        words = part.command()
    command = [str(word) for word in words]
    os.chdir(home.data(part.name))
    os.execvpe(command[0], command, {**os.environ, **part.environment()})


def check_health(arguments: argparse.Namespace, settings: Settings, home: Home) -> None:
    """Fails with a message if a component is not healthy, with --alive only if its process is stuck."""
    part = HEALTH_CHECKS[arguments.part](settings, home)
    health = part.liveness() if arguments.alive else part.health()
    if not health.ok:
        raise OSError(f"{arguments.part}: {health.reason}")


def _secrets(arguments: argparse.Namespace) -> Callable[[str], str]:
    """Returns a lookup of passwords by name. Raises OSError."""
    return lambda name: (arguments.secrets / name).read_text().strip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tailrace.deployment",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def add(name: str, run: Callable[[argparse.Namespace, Settings, Home], None]) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=run.__doc__.splitlines()[0], description=run.__doc__)
        command.set_defaults(run=run)
        return command

    options.configure_topics(add("topics", apply_topics))
    kafka_client.add_arguments(add("rules", push_rules))
    options.configure_host_keys(add("host-keys", publish_host_keys))
    options.configure_certificates(add("certificates", make_certificates))
    add("pseudonym-keys", make_pseudonym_keys)
    options.configure_migrations(add("migrations", migrate))
    options.configure_servers(add("retention", apply_retention))
    reconciling = add("reconcile", reconcile)
    options.add_secrets(reconciling)
    reconciliation_step.configure(reconciling)
    options.add_secrets(rebalancing := add("rebalance", rebalance))
    rebalancing_step.configure(rebalancing)
    options.configure_dashboards(add("dashboards", publish_dashboards))
    options.configure_clickhouse(add("clickhouse", write_clickhouse))
    provisioning.configure(add("transparency", provisioning.prepare))
    provisioning.configure_verifier_key(add("verifier-key", provisioning.print_verifier_key))
    options.configure_command(add("command", run_command))
    options.configure_collector(add("collector", write_collector))
    running = add("run", run_part)
    running.add_argument("part", choices=RUNNABLE)
    kafka_client.add_arguments(running, required=False)
    (checking := add("health", check_health)).add_argument("part", choices=HEALTH_CHECKS)
    checking.add_argument("--alive", action="store_true", help="whether a restart would help")
    return parser


def _failed(error: object) -> Exit:
    print(f"tailrace: {error}", file=sys.stderr)
    return Exit.FAILED


if __name__ == "__main__":
    sys.exit(main())
