"""The setup steps of the components as separate commands, for containers and Kubernetes."""
