"""The metrics port of a component: a free port on 127.0.0.1, chosen at each start and stored in a file."""

import socket
import urllib.request

from tailrace.config.home import Home

SECONDS = 5


def choose(home: Home, component: str) -> None:
    """Chooses a port for the component's next start."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        home.metrics_port(component).write_text(str(free.getsockname()[1]))


def port(home: Home, component: str) -> int:
    """Returns the port that was chosen last. Raises OSError if there is none."""
    return int(home.metrics_port(component).read_text())


def read(home: Home, component: str) -> str:
    """Returns the component's metrics. Raises OSError."""
    with urllib.request.urlopen(
        f"http://127.0.0.1:{port(home, component)}/metrics", timeout=SECONDS
    ) as answer:
        return answer.read().decode()
