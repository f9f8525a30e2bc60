"""`python -m tailrace.witness`: cosigns checkpoints of transparency logs until SIGTERM."""

import argparse
import sys
import threading
from pathlib import Path

from tailrace import process
from tailrace.evidence import signing
from tailrace.evidence.signing import SigningKeyError
from tailrace.transparency.keys import new_pem
from tailrace.witness.server import WitnessServer
from tailrace.witness.witness import Witness
from tailrace_verify import notes
from tailrace_verify.notes import Key, NoteError

KEY = "key.pem"


def main() -> int:
    arguments = _arguments()
    try:
        serve(arguments)
    except (NoteError, SigningKeyError) as error:
        print(f"tailrace: {error}", file=sys.stderr)
        return 2
    return 0


def serve(arguments: argparse.Namespace) -> None:
    """Serves until SIGTERM. Raises NoteError, SigningKeyError, OSError."""
    key = signing.read_private(arguments.key or _own_key(arguments.directory))
    witness = Witness(arguments.name, key, logs(arguments.log), arguments.directory)
    with WitnessServer(witness, arguments.bind, arguments.port, process.print_line) as server:
        stop = threading.Event()
        process.at_stop(stop.set)
        thread = threading.Thread(target=server.serve_forever, args=(0.5,), daemon=True)
        thread.start()
        process.print_line(f"{witness.key.vkey()} listens on {arguments.bind}:{server.server_address[1]}")
        stop.wait()
        server.shutdown()
        thread.join()


def logs(listed: list[str]) -> list[Key]:
    """Returns the keys of logs: each is a verifier key or a file with one."""
    return [notes.parse_vkey(Path(each).read_text() if Path(each).is_file() else each) for each in listed]


def _own_key(directory: Path) -> Path:
    """Returns the file of the witness's key, created on first use with mode 0600."""
    file = directory / KEY
    if not file.exists():
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = directory / f".{KEY}.draft"
        draft.touch(0o600)
        draft.write_text(new_pem())
        draft.replace(file)
    return file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of a witness."""
    parser.add_argument(
        "--directory", type=Path, required=True, help="directory of the state: back it up with care"
    )
    parser.add_argument("--name", required=True, help="name of the witness, such as witness.example.com/w1")
    parser.add_argument(
        "--log",
        action="append",
        required=True,
        metavar="VKEY",
        help="verifier key of a log, or a file with it; repeat it for each log",
    )
    parser.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help=f"private key in PEM format (default: {KEY} in the directory)",
    )
    parser.add_argument("--bind", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, required=True, help="port to listen on; 0: any free port")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tailrace.witness", description=__doc__)
    add_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
