"""A real OpenSearch as a receiver on loopback: its modules of Maven Central, in the cache of components."""

import contextlib
import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from e2e import maven_jars
from e2e.stack import wait_until

SOURCES = Path(__file__).parent / "opensearch"
TEMPLATE = {"index_patterns": ["logs-tailrace*"], "data_stream": {}}


class OpenSearch:
    """One node whose data survives a kill."""

    def __init__(self, cache_directory: Path, directory: Path, port: int) -> None:
        self._jars = maven_jars.installed(cache_directory, SOURCES / "pom.xml")
        self._directory = directory
        self._port = port
        self.url = f"http://127.0.0.1:{port}"

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Runs the node during the block, and kills it with SIGKILL at its end."""
        options = ["-Xmx512m", "-XX:TieredStopAtLevel=1", "-cp", f"{self._jars}/*"]
        words = [SOURCES / "Receiver.java", self._directory, str(self._port), str(self._port + 1)]
        with (self._directory / "opensearch.log").open("ab") as log:
            process = subprocess.Popen(["java", *options, *words], stdout=log, stderr=log)
        try:
            wait_until(self._answers, "OpenSearch to answer")
            yield
        finally:
            process.kill()
            process.wait()

    def make_data_streams(self) -> None:
        """Makes a data stream of each index whose name begins with logs-tailrace."""
        self._request("PUT", "/_index_template/tailrace", TEMPLATE)

    def ids(self, index: str) -> list[str]:
        """Returns the ids of all documents of an index with at most 10,000, in any order."""
        try:
            self._request("POST", f"/{index}/_refresh")
            found = self._request("GET", f"/{index}/_search?size=10000&_source=false")
        except urllib.error.HTTPError:
            return []
        return [hit["_id"] for hit in found["hits"]["hits"]]

    def document(self, index: str, id_: str) -> dict:
        (hit,) = self._request("POST", f"/{index}/_search", {"query": {"ids": {"values": [id_]}}})["hits"][
            "hits"
        ]
        return hit["_source"]

    def _answers(self) -> bool:
        try:
            return self._request("GET", "/_cluster/health")["status"] in ("green", "yellow")
        except OSError:
            return False

    def _request(self, method: str, path: str, content: object = None) -> dict:
        body = None if content is None else json.dumps(content).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", body, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
