"""A real rsyslog as a receiver of syslog messages on loopback: Debian's packages, unpacked into the cache."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from e2e import debian_packages
from e2e.stack import wait_until

PACKAGES = ("rsyslog", "rsyslog-gnutls", "libestr0", "libfastjson4")
CONFIGURATION = """
global(workDirectory="{directory}" maxMessageSize="64k")
{tls}
module(load="imtcp"{driver})
input(type="imtcp" address="127.0.0.1" port="{port}")
template(name="fields" type="string" string="%pri%|%timestamp:::date-rfc3339%|%hostname%|%app-name%|%msg%\\n")
action(type="omfile" file="{output}" template="fields")
"""
TLS = """
global(defaultNetstreamDriver="gtls" defaultNetstreamDriverCAFile="{certificate}"
    defaultNetstreamDriverCertFile="{certificate}" defaultNetstreamDriverKeyFile="{key}")
"""
DRIVER = ' streamDriver.name="gtls" streamDriver.mode="1" streamDriver.authMode="anon"'


@dataclass(frozen=True)
class Message:
    """A message as rsyslog has parsed it."""

    priority: int
    time: str
    hostname: str
    application: str
    text: str


class Rsyslog:
    """A running rsyslogd that writes every message to a file."""

    def __init__(self, root: Path, directory: Path, port: int, certificate: tuple[Path, Path] | None) -> None:
        self._libraries = next((root / "usr" / "lib").glob("*-linux-gnu"))
        self._program = root / "usr" / "sbin" / "rsyslogd"
        self._directory = directory
        self._output = directory / "messages"
        files = dict(zip(("certificate", "key"), certificate or (), strict=False))
        (directory / "rsyslog.conf").write_text(
            CONFIGURATION.format(
                directory=directory,
                tls=TLS.format(**files) if files else "",
                driver=DRIVER if files else "",
                port=port,
                output=self._output,
            )
        )
        self._port = port

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Runs the server during the block, and kills it with SIGKILL at its end."""
        words = ["-n", "-C", "-f", self._directory / "rsyslog.conf", "-i", self._directory / "pid"]
        process = subprocess.Popen(
            [self._program, *words, "-M", self._libraries / "rsyslog"],
            env={**os.environ, "LD_LIBRARY_PATH": str(self._libraries)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_until(lambda: _listens(self._port), "rsyslog to listen")
            yield
        finally:
            process.kill()
            process.wait()

    def messages(self) -> list[Message]:
        """Returns the complete messages in the order of arrival."""
        if not self._output.exists():
            return []
        lines = self._output.read_text().split("\n")[:-1]
        fields = (line.split("|", 4) for line in lines)
        return [Message(int(priority), *rest) for priority, *rest in fields]


def installed(cache_directory: Path) -> Path:
    """Returns the directory of the unpacked packages. Raises CalledProcessError without Debian's registry."""
    return debian_packages.unpacked(cache_directory, "rsyslog", *PACKAGES)


def _listens(port: int) -> bool:
    # A connection without a byte would be a message for rsyslog with TLS, so the table of sockets is read.
    wanted = f"0100007F:{port:04X}"
    return any(
        fields[1] == wanted and fields[3] == "0A"
        for fields in map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:])
    )
