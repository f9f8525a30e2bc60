"""The home directory, which contains everything that one installation writes at run time."""

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Home:
    """Paths under TAILRACE_HOME. Directories are created on first use, private to the user."""

    root: Path

    def data(self, component: str) -> Path:
        """The component's directory for data and generated configuration: data/<component>/."""
        return _directory(self.root / "data" / component)

    def log(self, component: str) -> Path:
        """The component's log: logs/<component>.log, rotated to .1, .2 and so on."""
        return _directory(self.root / "logs") / f"{component}.log"

    @property
    def run(self) -> Path:
        """Lock, control socket and pid files."""
        return _directory(self.root / "run")

    @property
    def watch(self) -> Path:
        """The log files of the demo: watch/<instance>/<file>."""
        return _directory(self.root / "watch")

    @property
    def secrets(self) -> Path:
        """Passwords, keys and certificates."""
        return _directory(self.root / "secrets")

    def metrics_port(self, component: str) -> Path:
        """The file with the TCP port on 127.0.0.1 where the running component serves its metrics."""
        return self.run / f"{component}.metrics-port"

    def secret_file(self, name: str, make: Callable[[], str] = lambda: secrets.token_hex(16)) -> Path:
        """Returns the file of a secret, creating it with mode 0600; by default 32 random hex digits, no
        newline."""
        path = self.secrets / name
        if not path.exists():
            _write_private(path, make())
        return path

    def secret(self, name: str) -> str:
        """Returns a secret of this installation by name, such as `clickhouse-writer`."""
        return self.secret_file(name).read_text()

    def replace_secret(self, name: str) -> None:
        """Replaces a secret by a new one."""
        draft = self.secrets / f".{name}.new"
        draft.unlink(missing_ok=True)
        _write_private(draft, secrets.token_hex(16))
        draft.replace(self.secrets / name)


def _directory(path: Path) -> Path:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def _write_private(path: Path, text: str) -> None:
    """Writes a file atomically, readable only for the user; the first of two writers wins."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
