"""The options of a verification; this module imports no cryptography, so that help is quick."""

import argparse
from pathlib import Path

TABLE, JSON = "table", "json"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    parser.add_argument(
        "bundle",
        nargs="?",
        type=Path,
        metavar="BUNDLE",
        help="an evidence bundle, an archive, or the directory of a transparency log",
    )
    _add_keys(parser)
    parser.add_argument(
        "--checkpoint",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a checkpoint that you kept or got from a witness: the log must contain it",
    )
    parser.add_argument(
        "--from", dest="first", metavar="TIME", help="the first minute that must be covered, UTC"
    )
    parser.add_argument("--to", dest="end", metavar="TIME", help="their end, UTC")
    parser.add_argument(
        "--proven-days",
        type=Path,
        metavar="FILE",
        help="a file of yours with days of archives that were proven: only the bytes of their files are "
        "compared, and further days are added",
    )
    parser.add_argument(
        "--output",
        choices=(TABLE, JSON),
        default=TABLE,
        metavar="FORMAT",
        help="table or json (default: table)",
    )


def _add_keys(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--log-key", type=Path, metavar="FILE", help="the verifier key of the transparency log"
    )
    parser.add_argument(
        "--witness-key",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="the verifier key of a witness; can be repeated",
    )
    parser.add_argument(
        "--without-witness", action="store_true", help="accept checkpoints without a cosignature"
    )
    parser.add_argument("--host-keys", type=Path, metavar="FILE", help="the registered host keys, hosts.json")
    parser.add_argument(
        "--public-key", type=Path, metavar="PEM", help="the public key of the bundle's exporter"
    )
