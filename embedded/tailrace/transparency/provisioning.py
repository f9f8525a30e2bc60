"""Prepares the transparency log of a container: its keys are given, and its directory is a volume.

On one machine, `tailrace.transparency.keys` creates everything that is missing.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.errors import ReportedError
from tailrace.evidence import signing
from tailrace.evidence.signing import SigningKeyError
from tailrace.transparency import files, keys
from tailrace_verify import notes
from tailrace_verify.notes import Key, NoteError

SECRETS = Path("/run/secrets")


class ProvisioningError(ReportedError):
    """The directory belongs to another log, or a key cannot be used."""


def prepare(arguments: argparse.Namespace, _: Settings, home: Home) -> None:
    """Writes origin, public key and witnesses of the transparency log, and prints its verifier key.

    The directory keeps its origin and its key: another key cannot continue a log. Raises ProvisioningError,
    OSError.
    """
    with _reported():
        _prepare(arguments, home)


def _prepare(arguments: argparse.Namespace, home: Home) -> None:
    directory = keys.directory(home)
    if arguments.origin:
        _keep(directory / keys.ORIGIN, arguments.origin)
    origin = keys.origin(home)
    vkey = notes.key_of(origin, signing.read_private(arguments.key)).vkey()
    _keep(directory / keys.LOG_VKEY, vkey)
    listed = [_checked(each) for each in arguments.witness]
    if arguments.local_witness:
        key = _witness(arguments.witness_name, arguments.witness_key)
        listed.append(f"{arguments.local_witness} {key.vkey()}")
        files.write(home.root / keys.WITNESS_DIRECTORY / "witness.vkey", f"{key.vkey()}\n".encode())
    files.write(directory / keys.WITNESSES, "".join(f"{each}\n" for each in listed).encode())
    print(vkey)


def print_verifier_key(arguments: argparse.Namespace, *_: object) -> None:
    """Prints the verifier key of a log or witness with this private key; creates the key if it is missing.

    Raises ProvisioningError, OSError.
    """
    if not arguments.key.exists():
        arguments.key.touch(0o600)
        arguments.key.write_text(keys.new_pem())
    kind = notes.COSIGNATURE if arguments.witness else notes.ED25519
    with _reported():
        print(notes.key_of(arguments.name, signing.read_private(arguments.key), kind).vkey())


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `prepare`."""
    parser.add_argument(
        "--key",
        type=Path,
        default=SECRETS / keys.LOG_KEY,
        metavar="FILE",
        help="the log's private key (default: %(default)s)",
    )
    parser.add_argument("--origin", default="", metavar="NAME", help="the log's name (default: a random one)")
    parser.add_argument(
        "--witness",
        action="append",
        default=[],
        metavar="'URL VKEY'",
        help="a witness: its address and its verifier key; repeat it for each",
    )
    parser.add_argument("--local-witness", default="", metavar="URL", help="a witness whose key is here")
    parser.add_argument("--witness-name", default="", metavar="NAME", help="name of that witness")
    parser.add_argument(
        "--witness-key",
        type=Path,
        default=SECRETS / keys.WITNESS_KEY,
        metavar="FILE",
        help="private key of that witness (default: %(default)s)",
    )


def configure_verifier_key(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `print_verifier_key`."""
    parser.add_argument("--key", type=Path, required=True, metavar="FILE", help="private key in PEM format")
    parser.add_argument("--name", required=True, metavar="NAME", help="origin of the log, or witness")
    parser.add_argument("--witness", action="store_true", help="it is the key of a witness")


@contextmanager
def _reported() -> Iterator[None]:
    """Makes a wrong name or key an error of one sentence."""
    try:
        yield
    except (NoteError, SigningKeyError) as error:
        raise ProvisioningError(str(error)) from None


def _keep(file: Path, text: str) -> None:
    """Writes a file once. Raises ProvisioningError if it has another content."""
    if not file.exists():
        files.write(file, f"{text}\n".encode())
    elif (found := file.read_text().strip()) != text:
        raise ProvisioningError(
            f"{file} contains {found}, not {text}: a log keeps its name and its key; use another volume"
        )


def _checked(line: str) -> str:
    address, _, vkey = line.partition(" ")
    notes.parse_vkey(vkey)
    return f"{address} {vkey.strip()}"


def _witness(name: str, file: Path) -> Key:
    return notes.key_of(name, signing.read_private(file), notes.COSIGNATURE)
