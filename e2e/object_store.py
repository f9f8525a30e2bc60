"""An object store with S3's interface on loopback: moto's server.

Flink stores an object for a directory beside the objects in it. S3Proxy (e2e/s3_server.py), which stores
objects as files, cannot do so.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from e2e.stack import wait_until
from tailrace_local.supervisor import launch

ACCESS_KEY, SECRET_KEY = "AKIDEXAMPLE", "the secret key"
REGION = "us-east-1"
NO_PATIENCE = Config(connect_timeout=5, read_timeout=60, retries={"max_attempts": 0})


class ObjectStore:
    """A server that keeps objects until it ends: small ones in memory, others in temporary files."""

    def __init__(self, directory: Path, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._port = port
        self._log = directory / "object-store.log"
        self._process: subprocess.Popen | None = None
        keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
        self._client = boto3.client(
            "s3", endpoint_url=self.url, region_name=REGION, config=NO_PATIENCE, **keys
        )

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Runs the server during the block."""
        launched = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid())]
        command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(self._port)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen([*launched, *command], stdout=log, stderr=log)
        try:
            wait_until(self._answers, "the object store to answer")
            yield
        finally:
            self.resume()
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        assert self._process
        assert self._process.poll() is None, self._log.read_text()
        try:
            self._client.list_buckets()
        except (BotoCoreError, ClientError):
            return False
        return True

    def pause(self) -> None:
        """Stops answering, as a store that is cut off does."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def make_bucket(self, name: str) -> None:
        self._client.create_bucket(Bucket=name)

    def sizes(self, bucket: str, prefix: str = "") -> dict[str, int]:
        """Returns the bytes of each object by its key."""
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        return {each["Key"]: each["Size"] for page in pages for each in page.get("Contents", [])}
