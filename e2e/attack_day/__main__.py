"""Simulates a company for weeks, with attacks on the last day, on a real MariaDB:
`python -m e2e.attack_day DIRECTORY --seed 7`. Writes the server's logs and manifest.json to the directory;
with --report it also writes docs/DETECTIONS.md, and with --record the recording of an ordinary day."""

import argparse
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from e2e.attack_day import network, ordinary_day, report
from e2e.attack_day.attacks import ATTACKS, NEW_HOST, STRANGERS, Attack
from e2e.attack_day.company import Company, all_hosts
from e2e.attack_day.mariadb import Installation, Server

START = datetime(2026, 9, 7, tzinfo=UTC)
"""A Monday. The server's clock is simulated."""


def main() -> None:
    options = _options()
    installation = Installation.install(options.cache)
    network.enter()
    network.give_addresses([*all_hosts(), *STRANGERS, NEW_HOST])
    server = Server(installation, options.directory, START)
    server.create()
    server.start()
    try:
        company = Company(server, options.seed)
        company.found()
        server.settle()
        manifest = _live(company, options)
    finally:
        server.stop()
    (options.directory / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    if options.report:
        report.write(options.directory, manifest)
    if options.record:
        ordinary_day.record(options.directory, manifest)


def _live(company: Company, options: argparse.Namespace) -> dict:
    """Runs weeks of work, and attacks on the last day."""
    server = company.server
    opening, day = START + timedelta(hours=1), START + timedelta(days=options.days - 1)
    before = ordinary_day.sizes(server.logs)
    company.work(opening, START + timedelta(hours=9))
    company.welcome()
    company.work(START + timedelta(hours=9), day)
    after = ordinary_day.sizes(server.logs)
    done = []
    at = day
    for begin, attack in _schedule(Random(options.seed)):
        company.work(at, day + begin)
        server.clock.set(day + begin)
        started = server.clock.now()
        attack.act(company)
        server.settle()
        at = server.clock.now() + timedelta(seconds=1)
        print(f"{started:%H:%M} {attack.name}", flush=True)
        done.append(
            {
                "name": attack.name,
                "technique": attack.technique,
                "rules": attack.rules,
                "who": attack.who,
                "from": started.isoformat(),
                "to": at.isoformat(),
            }
        )
    company.work(at, day + timedelta(days=1))
    return {
        "seed": options.seed,
        "start": START.isoformat(),
        "ordinary_days": {
            "from": opening.isoformat(),
            "logs": {name: [before[name], after[name]] for name in before},
        },
        "attack_day": day.isoformat(),
        "attacks": done,
    }


def _schedule(random: Random) -> list[tuple[timedelta, Attack]]:
    """Assigns a time to every attack; the one that stops the server is the last."""
    slots = [timedelta(days=1) / (len(ATTACKS) + 1) * number for number in range(1, len(ATTACKS) + 1)]
    last = next(attack for attack in ATTACKS if attack.name == "restarted_without_accounts")
    schedule = [(slots.pop(), last)]
    for attack in sorted(random.sample(ATTACKS, len(ATTACKS)), key=lambda attack: attack.hour is None):
        if attack is not last:
            free = [slot for slot in slots if attack.hour in (None, slot // timedelta(hours=1))]
            slot = random.choice(free)
            slots.remove(slot)
            schedule.append((slot + timedelta(seconds=random.uniform(0, 60)), attack))
    return sorted(schedule, key=lambda planned: planned[0])


def _options() -> argparse.Namespace:
    usual = Path(os.environ.get("TAILRACE_CACHE") or Path.home() / ".cache" / "tailrace")
    parser = argparse.ArgumentParser(prog="attack_day", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "directory", type=Path, help="new directory for the server, its logs and the manifest"
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--days", type=int, default=50, help="days of work, the last one with attacks (default: 50)"
    )
    parser.add_argument("--report", action="store_true", help="write docs/DETECTIONS.md")
    parser.add_argument(
        "--record", action="store_true", help="write the recording of an ordinary day; needs --days 2"
    )
    parser.add_argument("--cache", type=Path, default=usual)
    return parser.parse_args()


main()
