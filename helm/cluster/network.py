"""What NetworkPolicies of one namespace allow, by the specification of Kubernetes.

Nothing enforces them on simulated nodes: this says what a network that enforces them would do.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

Labels = Mapping[str, str]
Peer = tuple[Labels | None, Labels, str]
"""Labels of a pod of the namespace, or None, those of a pod elsewhere and the name of its namespace."""
NAME = "kubernetes.io/metadata.name"
"""The label of a namespace that Kubernetes sets."""


def admits(
    policies: Sequence[dict],
    source: Labels | None,
    target: Labels | None,
    port: int,
    labels: Labels = MappingProxyType({}),
    namespace: str = "elsewhere",
) -> bool:
    """Returns whether a TCP connection is allowed. None is a pod of another namespace, which has `labels`."""
    outside = (labels, namespace)
    leaves = source is None or _allowed(policies, "egress", "to", source, (target, *outside), port)
    enters = target is None or _allowed(policies, "ingress", "from", target, (source, *outside), port)
    return leaves and enters


def _allowed(
    policies: Sequence[dict], direction: str, peers: str, pod: Labels, peer: Peer, port: int
) -> bool:
    """A pod that no policy selects is open; otherwise one rule must allow the connection."""
    specs = [each["spec"] for each in policies if _selects(each["spec"]["podSelector"], pod)]
    limiting = [spec for spec in specs if direction.capitalize() in spec["policyTypes"]]
    rules = [rule for spec in limiting for rule in spec.get(direction) or []]
    return not limiting or any(_matches(rule, peers, peer, port) for rule in rules)


def _matches(rule: dict, peers: str, peer: Peer, port: int) -> bool:
    ports = [each["port"] for each in rule.get("ports", []) if each.get("protocol", "TCP") == "TCP"]
    if rule.get("ports") and port not in ports:
        return False
    return not rule.get(peers) or any(_is_peer(each, peer) for each in rule[peers])


def _is_peer(selectors: dict, peer: Peer) -> bool:
    """Understands pods of the same namespace, of any (`namespaceSelector: {}`), and of one with a name."""
    assert selectors.keys() <= {"podSelector", "namespaceSelector"}, selectors
    inside, outside, namespace = peer
    if inside is None:
        of_namespace = selectors.get("namespaceSelector", {"matchLabels": {NAME: ""}})
        return _selects(of_namespace, {NAME: namespace}) and _selects(selectors["podSelector"], outside)
    return not selectors.get("namespaceSelector") and _selects(selectors["podSelector"], inside)


def _selects(selector: dict, labels: Labels) -> bool:
    assert selector.keys() <= {"matchLabels"}, selector
    return selector.get("matchLabels", {}).items() <= labels.items()
