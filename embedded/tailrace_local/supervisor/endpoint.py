"""Where a part serves its metrics: a free port on 127.0.0.1, chosen at each start and kept in a file."""

import socket
import urllib.request

from tailrace.config.home import Home

SECONDS = 5


def choose(home: Home, part: str) -> None:
    """Chooses a port for the part's next start."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        home.metrics_port(part).write_text(str(free.getsockname()[1]))


def port(home: Home, part: str) -> int:
    """The port that was chosen last. Raises OSError if none was."""
    return int(home.metrics_port(part).read_text())


def read(home: Home, part: str) -> str:
    """What the part tells there. Raises OSError."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port(home, part)}/metrics", timeout=SECONDS) as answer:
        return answer.read().decode()
