"""The rendered chart: valid for Kubernetes, and one with the rest of the project."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from docker.tests.test_compose import job_defaults
from docker.tests.test_compose_services import KEYS, SECRETS, clickhouse_accounts
from helm.tests.conftest import CHART, EVERYTHING, KUBERNETES, OPTIONAL, RELEASE, options
from tailrace.clickhouse import row_policies
from tailrace.config.resources import REPOSITORY
from tailrace.deployment import __main__ as deployment
from tailrace.evidence import signing
from tailrace.repair import __main__ as repair
from tailrace.sources import sources_file
from tailrace_local.components.detect import Detect

pytestmark = pytest.mark.long  # Helm is built
PROFILES = ("", "small", "standard", "large")
OPERATORS = ("strimzi.io", "flink.apache.org", "altinity.com", "monitoring.coreos.com")
EVIDENCE = ("superset.evidence.enabled=true", "access.developer.clusters[0]=shop")
"""What excludes several replicas of Superset, which EVERYTHING has."""
SERVERS = [
    f"http://chi-{RELEASE}-tailrace-{shard}-{replica}:8123" for shard in range(2) for replica in range(2)
]
"""Those of EVERYTHING."""
ELSEWHERE = (
    "clickhouse.url=http://ch.example:8123",
    "superset.url=https://superset.example",
    "kafka.strimzi.enabled=false",
    "collector.enabled=false",
)


def pods(resources: list[dict]) -> dict[str, dict]:
    """The templates of all pods, by kind and name of their owner."""
    found = {}
    for each in resources:
        spec = each["spec"]["jobTemplate"]["spec"] if each["kind"] == "CronJob" else each.get("spec", {})
        template = spec.get("template")
        if each["kind"] == "FlinkDeployment":
            template = each["spec"]["podTemplate"]
        if each["kind"] in ("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "FlinkDeployment"):
            found[f"{each['kind']}/{each['metadata']['name']}"] = template
    return found


def containers(pod: dict) -> list[dict]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


def configuration(job: dict) -> str:
    """The file of keys of a job, of the specification of its FlinkDeployment."""
    annotations = job["podTemplate"]["metadata"]["annotations"]
    (volume,) = (each for each in job["podTemplate"]["spec"]["volumes"] if each["name"] == "job")
    (item,) = volume["downwardAPI"]["items"]
    assert item == {
        "path": "job.yaml",
        "fieldRef": {"fieldPath": "metadata.annotations['tailrace.io/job.yaml']"},
    }
    return annotations["tailrace.io/job.yaml"]


@pytest.mark.parametrize("profile", PROFILES)
def test_helm_finds_nothing_to_complain_of(helm, profile):
    command = [helm, "lint", "--strict", "--kube-version", KUBERNETES, CHART, *options(profile)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("values", [(), EVERYTHING, EVIDENCE, ELSEWHERE])
@pytest.mark.parametrize("profile", PROFILES)
def test_resources_fit_kubernetes_schemas(render, profile, values):
    version = KUBERNETES.rpartition(".")[0]
    own = 0
    for resource in render(profile, *values):
        if not any(operator in resource["apiVersion"] for operator in OPERATORS):
            kubernetes_validate.validate(resource, version, strict=True)
            own += 1
    assert own >= 5


@pytest.mark.parametrize("profile", PROFILES)
def test_names_are_given_once(render, profile):
    names = [(each["kind"], each["metadata"]["name"]) for each in render(profile, *EVERYTHING)]
    assert len(names) == len(set(names))


def test_capture_gets_the_settings_that_it_and_its_fluent_bit_read(everything):
    data = everything["ConfigMap", f"{RELEASE}-collector"]["data"]
    included = data["capture-only.conf"].split()[1::2]
    used = {each for name in included for each in re.findall(r"\$\{(\w+)\}", data[name])}
    pod = everything["Deployment", f"{RELEASE}-capture"]["spec"]["template"]["spec"]
    fluentbit, capture, explain = pod["containers"]
    given = {each["name"]: each.get("value") for each in fluentbit["env"]}
    assert given.keys() >= used - OPTIONAL
    for each in (capture, explain):
        arguments = dict(word.removeprefix("--").split("=") for word in each["args"][2:])
        assert arguments["spool"] == given["TAILRACE_CAPTURE_SPOOL"]
        assert arguments["state"] in pod["initContainers"][0]["command"]
        assert arguments["heartbeat-file"] in each["livenessProbe"]["exec"]["command"][-1]
        asked = subprocess.run(
            [sys.executable, "-m", *each["args"], "--once"],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY / "collectors/capture")},
            capture_output=True,
            text=True,
        )
        # It takes the arguments, and looks for the list where the secret would be.
        assert "expected a JSON list of servers" in asked.stderr
        assert arguments["servers"] in asked.stderr


def test_the_sidecar_is_the_same_with_the_pod_as_instance(everything):
    snippet = yaml.safe_load(everything["ConfigMap", f"{RELEASE}-collector-sidecar"]["data"]["sidecar.yaml"])
    pod = everything["DaemonSet", f"{RELEASE}-collector"]["spec"]["template"]["spec"]
    text = yaml.safe_dump(snippet["containers"])
    assert text.count("fieldPath: metadata.name") == 2
    own = yaml.safe_load(text.replace("metadata.name", "spec.nodeName"))
    for each in own:  # the pod of the DaemonSet states it for all its containers
        assert each["securityContext"].pop("runAsNonRoot") is True
        assert each["securityContext"].pop("seccompProfile") == {"type": "RuntimeDefault"}
    assert own == pod["containers"]
    mounted = {mount["name"] for each in snippet["containers"] for mount in each["volumeMounts"]}
    assert mounted == {volume["name"] for volume in snippet["volumes"]} | {"logs"}


@pytest.mark.parametrize(
    ("job", "keys"), [("normalize", "NormalizeJobOptions"), ("detect", "DetectionJobOptions")]
)
def test_jobs_have_what_they_must_be_given(everything, job, keys):
    deployed = everything["FlinkDeployment", f"{RELEASE}-{job}"]["spec"]
    lines = configuration(deployed).splitlines()
    given = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
    arguments = deployed["job"]["args"]
    given |= {
        name.removeprefix("--"): value for name, value in zip(arguments[::2], arguments[1::2], strict=True)
    }
    defaults = job_defaults(job, keys)
    assert given.keys() - {"config"} <= defaults.keys()
    assert {key for key, usual in defaults.items() if usual is None} <= given.keys()
    assert str(deployed["job"]["parallelism"]) == given["parallelism"]
    assert (
        deployed["job"]["entryClass"]
        == {"normalize": "io.tailrace.flink.normalize.NormalizeJob", "detect": Detect.main_class}[job]
    )
    (container,) = deployed["podTemplate"]["spec"]["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert given["clickhouse.password-file"] == f"{mounts['passwords']}/clickhouse-writer"
    assert given["config"] == f"{mounts['job']}/job.yaml"


def test_detect_has_the_limits_of_avro(everything):
    flink = everything["FlinkDeployment", f"{RELEASE}-detect"]["spec"]["flinkConfiguration"]
    limits = [option for option in Detect.jvm_options if option.startswith("-Dorg.apache.avro.")]
    assert flink["env.java.opts.taskmanager"].split() == limits


def test_each_pod_knows_its_own_passwords_only(render):
    names = {"normalize": "flink", "superset": "superset-setup", "capture": "explain"}  # of compose.yaml
    for owner, pod in pods(render("", *EVERYTHING)).items():
        component = owner.rpartition(f"/{RELEASE}-")[2]
        volumes = [each for each in pod["spec"].get("volumes", []) if each["name"] in ("passwords", "key")]
        known = {item["key"] for each in volumes for item in each["secret"]["items"]}
        assert known == SECRETS.get(names.get(component, component), set()), owner
        assert known <= clickhouse_accounts() | KEYS | {
            each for each in known if each.startswith("superset-")
        }


def test_no_pod_has_rights_that_it_does_not_need(render):
    for owner, pod in pods(render("", *EVERYTHING)).items():
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True, owner
        assert pod["spec"]["securityContext"]["runAsUser"] > 0, owner
        assert pod["spec"]["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, owner
        needs_kubernetes = owner.startswith("FlinkDeployment/")
        assert pod["spec"].get("automountServiceAccountToken", True) is needs_kubernetes, owner
        for each in containers(pod):
            gives_directories = (owner, each["name"]) == (f"DaemonSet/{RELEASE}-collector", "directories")
            given = {"add": ["CHOWN", "FOWNER"]} if gives_directories else {}
            assert each["securityContext"]["capabilities"] == {"drop": ["ALL"], **given}, owner
            assert each["securityContext"].get("runAsUser", 1) > 0 or gives_directories, owner
            assert each["securityContext"]["allowPrivilegeEscalation"] is False, owner
            below_the_token = [
                mount for mount in each["volumeMounts"] if mount["mountPath"].startswith("/run/secrets")
            ]
            assert not (needs_kubernetes and below_the_token), owner


def test_repair_is_reported_the_logs_that_the_collector_reads(render, tmp_path, monkeypatch):
    made = {
        (each["kind"], each["metadata"]["name"]): each for each in render("", "collector.repair.enabled=true")
    }
    pod = made["DaemonSet", f"{RELEASE}-collector"]["spec"]["template"]["spec"]
    fluentbit, _, container = pod["containers"]
    (tmp_path / "list.yaml").write_text(made["ConfigMap", f"{RELEASE}-repair"]["data"]["sources.yaml"])
    shell, options, script, name = container["command"]
    here = script.replace("/etc/tailrace/repair/sources.yaml", f"{tmp_path}/list.yaml")
    here = here.replace("/tmp/sources.yaml", f"{tmp_path}/sources.yaml").replace(
        "exec python -m", "exec echo"
    )
    subprocess.run(
        [shell, options, here, name], env={**os.environ, "TAILRACE_INSTANCE": "node-1"}, check=True
    )

    told = {
        (each.instance, each.source, str(each.path)) for each in sources_file.load(tmp_path / "sources.yaml")
    }
    env = {each["name"]: each.get("value") for each in fluentbit["env"]}
    paths = {name: path for name, path in env.items() if name.endswith("_PATH")}
    assert told == {("node-1", name.split("_")[1].lower(), path) for name, path in paths.items()}
    monkeypatch.setattr(sys, "argv", container["args"])
    assert repair._arguments().clickhouse == f"http://clickhouse-{RELEASE}:8123"
    assert repair._arguments().host == "$(TAILRACE_INSTANCE)"  # the name of a pod of the DaemonSet changes


@pytest.mark.parametrize("name", ["facts", "delivery", "callbacks"])
def test_heartbeats_are_where_they_can_be_written(everything, name):
    (container,) = everything["Deployment", f"{RELEASE}-{name}"]["spec"]["template"]["spec"]["containers"]
    (beat,) = (
        word.removeprefix("--heartbeat-file=") for word in container["args"] if "--heartbeat-file=" in word
    )
    assert beat.rpartition("/")[0] in {mount["mountPath"] for mount in container["volumeMounts"]}


def test_metrics_have_words_that_they_take(everything, monkeypatch):
    (container,) = everything["Deployment", f"{RELEASE}-metrics"]["spec"]["template"]["spec"]["containers"]
    module, *_ = container["args"]
    monkeypatch.setattr(sys, "argv", container["args"])
    arguments = importlib.import_module(f"{module}.__main__")._arguments()
    jobs = {name for kind, name in everything if kind == "FlinkDeployment"}
    # The operator makes a service of this name for each.
    addresses = {f"{name.removeprefix(f'{RELEASE}-')}=http://{name}-rest:8081" for name in jobs}
    assert set(arguments.job) == addresses
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert arguments.password_file == Path(mounts["passwords"], f"clickhouse-{arguments.user}")


def test_no_pod_gets_services_as_settings(render):
    """An unknown variable TAILRACE_… is an error, and a service tailrace-superset would make some."""
    for owner, pod in pods(render("", *EVERYTHING)).items():
        assert pod["spec"]["enableServiceLinks"] is False, owner


def test_steps_come_in_order_with_words_that_they_take(everything):
    steps = [each for (kind, _), each in everything.items() if kind == "Job"]
    weights = {
        each["metadata"]["name"]: int(each["metadata"]["annotations"]["helm.sh/hook-weight"])
        for each in steps
    }
    assert sorted(weights, key=weights.get) == [
        f"{RELEASE}-{name}" for name in ("migrations", "rules", "dashboards")
    ]
    for each in steps:
        (container,) = each["spec"]["template"]["spec"]["containers"]
        module, *words = container["args"]
        assert module == "tailrace.deployment"
        arguments = deployment._parser().parse_args(words)
        if words[0] == "migrations":
            assert arguments.cluster == "tailrace"
            assert arguments.clickhouse == SERVERS
            assert arguments.sharded
            assert arguments.replicated


def test_one_replica_is_no_cluster(render):
    (migrations,) = (each for each in render() if each["metadata"]["name"] == f"{RELEASE}-migrations")
    assert "--cluster" not in migrations["spec"]["template"]["spec"]["containers"][0]["args"]


def test_parts_elsewhere_are_not_made_and_are_asked_there(render):
    resources = render("", *ELSEWHERE)
    kinds = {each["kind"] for each in resources}
    assert not kinds & {"ClickHouseInstallation", "KafkaTopic", "DaemonSet", "PersistentVolumeClaim"}
    text = yaml.safe_dump_all(resources)
    assert "clickhouse-tailrace" not in text
    (dashboards,) = (each for each in resources if each["metadata"]["name"] == f"{RELEASE}-dashboards")
    arguments = dashboards["spec"]["template"]["spec"]["containers"][0]["args"]
    assert arguments[-4:] == ["--superset", "https://superset.example", "--clickhouse", "ch.example:8123"]


def test_superset_of_several_servers_shares_its_stores(render, everything):
    stated = everything["Deployment", f"{RELEASE}-superset"]["spec"]
    pod = stated["template"]["spec"]
    assert stated["replicas"] == 2
    assert ("PersistentVolumeClaim", f"{RELEASE}-superset") in everything  # unused: see the template
    assert all("persistentVolumeClaim" not in volume for volume in pod["volumes"])
    (stores,) = (each["secret"] for each in pod["volumes"] if each["name"] == "stores")
    assert stores["secretName"] == "tailrace-stores"
    known = {f"/run/stores/{item['path']}" for item in stores["items"]}
    text = (REPOSITORY / "embedded/superset/superset_config.py").read_text()
    for each in (its for its in containers(stated["template"]) if "superset" in its["image"]):
        files = {var["name"]: var["value"] for var in each["env"] if var["value"].startswith("/run/stores/")}
        assert set(files.values()) == known
        assert all(re.search(rf'_in_file\(\s*(#.*\s+)?"{name}"', text) for name in files)
    alone = {(each["kind"], each["metadata"]["name"]): each for each in render()}
    assert ("PersistentVolumeClaim", f"{RELEASE}-superset") in alone
    assert alone["Deployment", f"{RELEASE}-superset"]["spec"]["strategy"] == stated["strategy"]


def test_superset_and_its_services_are_configured_as_in_containers(render):
    services = yaml.safe_load((REPOSITORY / "docker/compose.yaml").read_text())["services"]
    values = ("superset.evidence.enabled=true", "clickhouse.url=http://clickhouse:8123")
    (deployed,) = (
        each
        for each in render("", *values)
        if (each["kind"], each["metadata"]["name"]) == ("Deployment", f"{RELEASE}-superset")
    )
    pod = {each["name"]: each for each in deployed["spec"]["template"]["spec"]["containers"]}
    assert pod.keys() == {"superset", "fingerprint", "evidence"}
    given = {name: {each["name"]: each["value"] for each in its["env"]} for name, its in pod.items()}
    of_containers = services["superset-setup"]["environment"]
    own = {"SUPERSET_KAFKA": "kafka-kafka-bootstrap:9092", "SUPERSET_HTTPS": "false"}
    # The defaults of settings in compose.yaml.
    own |= {"SUPERSET_RISK_HALF_LIFE": "7", "SUPERSET_TRUSTED_PROXIES": ""}
    assert given["superset"] == {**of_containers, **own}
    user = deployed["spec"]["template"]["spec"]["securityContext"]["runAsUser"]
    for name in ("fingerprint", "evidence"):
        service = services[name]
        assert pod[name]["args"] == service["command"]
        assert given[name] == service["environment"]
        assert service["user"] == f"{user}:{user}"
        mounted = {mount["mountPath"] for mount in pod[name]["volumeMounts"]}
        assert mounted >= {volume.partition(":")[2] for volume in service["volumes"]}
        socket = Path(given["superset"][f"SUPERSET_{name.upper()}_SOCKET"])
        (seen,) = (each for each in pod["superset"]["volumeMounts"] if each["name"] == "sockets")
        assert (seen["mountPath"], seen["readOnly"]) == (str(socket.parent), True)


def test_only_evidence_has_the_key(render):
    for resource in render("", *EVIDENCE):
        for owner, pod in pods([resource]).items():
            volumes = [
                each["name"]
                for each in pod["spec"].get("volumes", [])
                if signing.SECRET in yaml.safe_dump(each)
            ]
            mounting = [
                each["name"]
                for each in containers(pod)
                if any(mount["name"] in volumes for mount in each["volumeMounts"])
            ]
            expected = ["evidence"] if owner == f"Deployment/{RELEASE}-superset" else []
            assert mounting == expected, owner


def test_restrictions_reach_the_dashboards(everything, tmp_path):
    listed = tmp_path / "access.yaml"
    listed.write_text(everything["ConfigMap", f"{RELEASE}-access"]["data"]["access.yaml"])
    assert {name: each.values for name, each in row_policies.load(listed).items()} == {
        "developer": {"cluster": ("shop",)}
    }
    pod = everything["Job", f"{RELEASE}-dashboards"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (path,) = (each["value"] for each in container["env"] if each["name"] == "TAILRACE_ACCESS")
    (mount,) = (each for each in container["volumeMounts"] if each["name"] == "configuration")
    assert path == f"{mount['mountPath']}/access.yaml"
    (volume,) = (each for each in pod["volumes"] if each["name"] == "configuration")
    assert volume["configMap"]["name"] == f"{RELEASE}-access"


def test_policies_select_pods_that_there_are(render):
    resources = render("", *EVERYTHING)
    labels = [pod["metadata"]["labels"] for pod in pods(resources).values()]
    labels += [
        template["metadata"]["labels"]
        for each in resources
        if each["kind"] in ("ClickHouseInstallation", "ClickHouseKeeperInstallation")
        for template in each["spec"]["templates"]["podTemplates"]
    ]
    selected = [
        each["spec"]
        for each in resources
        if each["kind"] in ("NetworkPolicy", "PodDisruptionBudget", "PodMonitor")
    ]
    for spec in selected:
        wanted = spec.get("podSelector", spec.get("selector"))["matchLabels"]
        assert any(wanted.items() <= each.items() for each in labels), wanted
