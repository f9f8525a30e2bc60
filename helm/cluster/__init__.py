"""A Kubernetes control plane and releases of the chart on it, for the tests in helm/tests/cluster."""
