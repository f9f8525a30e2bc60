"""A real S3 server as a receiver on loopback: S3Proxy of Maven Central, which stores objects as files."""

import contextlib
import gzip
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from e2e import maven_jars
from e2e.stack import wait_until

SOURCES = Path(__file__).parent / "s3"
ACCESS_KEY, SECRET_KEY = "AKIDEXAMPLE", "the secret key"
REGION = "us-east-1"
WITHOUT_CHECKSUMS = Config(
    request_checksum_calculation="when_required", response_checksum_validation="when_required"
)
"""S3Proxy does not implement the headers that boto3 adds by default."""
CONFIGURATION = """
s3proxy.endpoint=http://127.0.0.1:{port}
s3proxy.authorization=aws-v2-or-v4
s3proxy.identity={access}
s3proxy.credential={secret}
jclouds.provider=filesystem-nio2
jclouds.identity=local
jclouds.credential=local
jclouds.filesystem.basedir={directory}/objects
"""


class S3Server:
    """One server whose objects survive a kill."""

    def __init__(self, cache_directory: Path, directory: Path, port: int) -> None:
        self._jars = maven_jars.installed(cache_directory, SOURCES / "pom.xml")
        self._directory = directory
        self.url = f"http://127.0.0.1:{port}"
        (directory / "objects").mkdir()
        given = {"port": port, "access": ACCESS_KEY, "secret": SECRET_KEY, "directory": directory}
        (directory / "s3proxy.conf").write_text(CONFIGURATION.format(**given))
        keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
        self._client = boto3.client(
            "s3", endpoint_url=self.url, region_name=REGION, config=WITHOUT_CHECKSUMS, **keys
        )

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Runs the server during the block, and kills it with SIGKILL at its end."""
        options = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{self._jars}/*"]
        options.append(f"-Dlogback.configurationFile={SOURCES / 'logback.xml'}")
        words = ["org.gaul.s3proxy.Main", "--properties", self._directory / "s3proxy.conf"]
        with (self._directory / "s3proxy.log").open("ab") as log:
            process = subprocess.Popen(["java", *options, *words], stdout=log, stderr=log)
        try:
            wait_until(self._answers, "S3Proxy to answer")
            yield
        finally:
            process.kill()
            process.wait()

    def make_bucket(self, name: str) -> None:
        self._client.create_bucket(Bucket=name)

    def documents(self, bucket: str) -> Iterator[dict]:
        """Yields the lines of all objects of a bucket, which are compressed. Raises an error for one that is
        not complete."""
        for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=bucket):
            for each in page.get("Contents", []):
                body = self._client.get_object(Bucket=bucket, Key=each["Key"])["Body"].read()
                yield from map(json.loads, gzip.decompress(body).splitlines())

    def _answers(self) -> bool:
        try:
            self._client.list_buckets()
        except (BotoCoreError, ClientError):
            return False
        return True
