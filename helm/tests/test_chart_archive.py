"""The rendered CronJobs of the archive: valid for Kubernetes, with few rights and words that they take."""

from pathlib import Path

import kubernetes_validate
import pytest

from helm.tests.conftest import KUBERNETES, RELEASE
from tailrace.archive import lock, restore
from tailrace.deployment import __main__ as deployment

pytestmark = pytest.mark.long  # Helm is built
ARCHIVE = (
    *("archive.enabled=true", "archive.image=registry.example/archive:1", "archive.address=s3://bucket/shop"),
    *("archive.keysSecret=keys", "transparency.enabled=true", "transparency.origin=tailrace/shop"),
)

KINDS = ("PersistentVolumeClaim", "CronJob")
HOME = Path("/var/lib/tailrace")


def test_the_archive_fits_kubernetes_schemas_and_has_few_rights(render):
    """Beside EVERYTHING, which has several servers of ClickHouse."""
    made = [
        each for each in render("", *ARCHIVE) if each["metadata"]["name"].startswith(f"{RELEASE}-archive")
    ]
    for each in made:
        kubernetes_validate.validate(each, KUBERNETES.rpartition(".")[0], strict=True)
    (claim,), jobs = ([each for each in made if each["kind"] == kind] for kind in KINDS)
    assert len(jobs) == 2
    for each in jobs:
        pod = each["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["containers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        words = deployment._parser().parse_args(pod["containers"][0]["args"][1:]).words
        assert words in (["archive", "run"], ["archive", "verify"])
        mounted = {mount["mountPath"]: mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
        volumes = {each["name"]: each for each in pod["volumes"]}
        for file in (lock.FILE, restore.JOURNAL):  # shared by the jobs, and there after a pod has ended
            volume = volumes[mounted[str((HOME / file).parent)]]
            assert volume["persistentVolumeClaim"] == {"claimName": claim["metadata"]["name"]}
        (passwords,) = (each["secret"]["items"] for each in pod["volumes"] if each["name"] == "passwords")
        assert {item["key"] for item in passwords} == {"clickhouse-admin", "clickhouse-auditor"}
