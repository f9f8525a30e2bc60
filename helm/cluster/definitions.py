"""CustomResourceDefinitions of the operators whose resources the chart makes, from package registries.

Where a definition is not published, ours accepts more than the operator's own; `open_definition` accepts
everything.
"""

import io
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

from docker.tests.conftest import ToOutput
from helm.cluster import programs
from tailrace.config import content_hash
from tailrace.config.settings import Settings
from tailrace_local.supervisor import cache, maven

SOURCES = Path(__file__).parent / "definitions"
FLINK = "org.apache.flink:flink-kubernetes-operator-api:1.10.0"
NEWER_FLINK = ["v2_0", "v2_1", "v2_2"]
"""Versions of Flink that operators from 1.14 on know. The newest definitions on Maven Central know v1_20."""

ALTINITY = {
    "clickhouse.altinity.com": "ClickHouseInstallation",
    "clickhouse-keeper.altinity.com": "ClickHouseKeeperInstallation",
}


def all_definitions() -> list[dict]:
    """Returns the definitions of all operators. The first call downloads 60 MB from Maven Central."""
    of_prometheus = [_parsed(path.read_text()) for path in programs.prometheus_definitions()]
    of_altinity = [open_definition(group, kind) for group, kind in ALTINITY.items()]
    return [*flink(), *strimzi(), *of_prometheus, *of_altinity]


def _parsed(text: str) -> dict:
    """Definitions are megabytes of YAML, which the loader in C reads several times faster."""
    return yaml.load(text, yaml.CSafeLoader)


def flink() -> list[dict]:
    """From the jar of the operator's types, with NEWER_FLINK added."""
    found = [_parsed(text) for text in _in_jar(_cached("flink", _copy_flink), "META-INF/fabric8/")]
    for definition in found:
        for values in _values_of(definition, "enum"):
            if "v1_20" in values:
                values += NEWER_FLINK
    return found


def strimzi() -> list[dict]:
    """Generated from the types. What the generator does not understand is left open.

    It makes objects of the values of a Map<String, Object>, and ignores @JsonSubTypes of a KafkaUser."""
    found = [_parsed(path.read_text()) for path in sorted(_cached("strimzi", _generate).glob("*.yml"))]
    for definition in found:
        for schema in _schemas(definition):
            if schema.get("additionalProperties") == {"type": "object"}:
                del schema["additionalProperties"]
                schema["x-kubernetes-preserve-unknown-fields"] = True
            for name in {"authentication", "authorization"} & schema.get("properties", {}).keys():
                schema["properties"][name] = _anything()
    return found


def open_definition(group: str, kind: str) -> dict:
    """Of a kind whose definition is in no registry: it stores everything and checks nothing."""
    singular = kind.lower()
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": _anything()}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{singular}s.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": f"{singular}s", "singular": singular},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def _anything() -> dict:
    return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _schemas(node: object) -> Iterator[dict]:
    """Every mapping below a node, outer ones first."""
    if isinstance(node, dict):
        yield node
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from _schemas(each)


def _values_of(node: object, key: str) -> list[list]:
    return [each[key] for each in _schemas(node) if isinstance(each.get(key), list)]


def _cached(name: str, fill: Callable[[Path], None]) -> Path:
    pieces = [SOURCES / "pom.xml", SOURCES / "Generate.java", FLINK]
    entry = Settings.from_environment().cache / f"kubernetes-{name}" / content_hash.fingerprint(*pieces)
    if not entry.exists():
        with cache.build(entry) as draft:
            fill(draft)
    return entry


def _copy_flink(draft: Path) -> None:
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
    maven.run(ToOutput(), SOURCES / "pom.xml", goal, f"-Dartifact={FLINK}", f"-DoutputDirectory={draft}")


def _generate(draft: Path) -> None:
    jars = draft / "jars"
    goal = "dependency:copy-dependencies"
    maven.run(ToOutput(), SOURCES / "pom.xml", goal, "-DincludeScope=runtime", f"-DoutputDirectory={jars}")
    command = ["java", "-cp", f"{jars}/*", SOURCES / "Generate.java", draft]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.split()[-1] == "2", done.stdout


def _in_jar(entry: Path, prefix: str) -> list[str]:
    (jar,) = entry.glob("*.jar")
    with zipfile.ZipFile(io.BytesIO(jar.read_bytes())) as opened:
        names = [each for each in opened.namelist() if each.startswith(prefix) and each.endswith("-v1.yml")]
        return [opened.read(name).decode() for name in sorted(names)]
