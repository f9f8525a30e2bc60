"""Helm itself, installed from its Go module."""

from pathlib import Path

from tailrace_local import go_program

HELM = "helm.sh/helm/v3/cmd/helm@v3.22.0"


def helm() -> Path:
    """Returns the program. The first call builds it, in four CPU-minutes. Raises as go_program.installed."""
    return go_program.installed("helm", HELM)
