"""What each service account of a release may do, as the API server answers for every resource and verb."""

import json
from http import HTTPStatus

import pytest

from helm import program
from helm.cluster.control_plane import ControlPlane
from helm.cluster.release import Release, api_resources
from helm.tests.cluster.conftest import EVERYTHING

pytestmark = pytest.mark.kubernetes

VERBS = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
    "escalate",
    "bind",
    "impersonate",
)
OF_EVERYONE = {
    "create selfsubjectaccessreviews.authorization.k8s.io",
    "create selfsubjectrulesreviews.authorization.k8s.io",
    "create selfsubjectreviews.authentication.k8s.io",
}
"""What Kubernetes allows every account: to ask about itself."""

OF_FLINK = {
    *(f"{verb} pods" for verb in ("create", "delete", "list", "watch")),
    *(f"{verb} configmaps" for verb in ("create", "delete", "get", "list", "patch", "update", "watch")),
    *(f"{verb} deployments.apps" for verb in ("delete", "get")),
    "update deployments/finalizers.apps",
}


@pytest.fixture(scope="module")
def installed(cluster, namespace) -> Release:
    release = Release(cluster, program.helm(), namespace("rights"))
    release.install("large", EVERYTHING)
    return release


@pytest.fixture(scope="module")
def questions(cluster) -> list[tuple[str, str, str]]:
    """Group, resource with its subresource, and verb."""
    known = {
        (path.split("/")[2] if path.startswith("/apis/") else "", resource["name"])
        for path, resource in api_resources(cluster)
    }
    return [(*each, verb) for each in sorted(known | {("apps", "deployments/finalizers")}) for verb in VERBS]


def allowed(
    cluster: ControlPlane, account: str, namespace: str, questions: list[tuple[str, str, str]]
) -> set[str]:
    """What an account of the namespace `rights` may do in a namespace: `verb resource.group`."""
    found = set()
    for group, resource, verb in questions:
        name, _, below = resource.partition("/")
        attributes = {
            "group": group,
            "resource": name,
            "subresource": below,
            "verb": verb,
            "namespace": namespace,
        }
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": f"system:serviceaccount:rights:{account}", "resourceAttributes": attributes},
        }
        review["spec"]["groups"] = [
            "system:serviceaccounts",
            "system:serviceaccounts:rights",
            "system:authenticated",
        ]
        status, answer = cluster.ask("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        assert status == HTTPStatus.CREATED, answer
        if json.loads(answer)["status"]["allowed"]:
            found.add(f"{verb} {resource}{'.' if group else ''}{group}")
    return found


def test_the_accounts_are_these(installed):
    used = {pod["spec"]["serviceAccountName"] for pod in installed.get("pods")}
    assert used == {"default", "tailrace-pull"}
    assert {each["spec"]["serviceAccount"] for each in installed.get("flinkdeployments")} == {
        "tailrace-flink"
    }
    accounts = {each["metadata"]["name"] for each in installed.get("serviceaccounts")}
    assert accounts == used | {"tailrace-flink"}


def test_the_account_of_the_jobs_has_what_flink_needs_and_no_more(installed, questions):
    assert allowed(installed.cluster, "tailrace-flink", "rights", questions) == OF_FLINK | OF_EVERYONE


def test_the_account_of_the_jobs_has_no_right_elsewhere(installed, questions):
    assert allowed(installed.cluster, "tailrace-flink", "default", questions) == OF_EVERYONE


@pytest.mark.parametrize("account", ["default", "tailrace-pull"])
def test_the_account_of_all_other_pods_has_no_right_and_no_token(installed, questions, account):
    assert allowed(installed.cluster, account, "rights", questions) == OF_EVERYONE
    for pod in installed.get("pods"):
        assert pod["spec"]["automountServiceAccountToken"] is False
        assert "kube-root-ca.crt" not in str(pod["spec"]["volumes"]), pod["metadata"]["name"]
