"""sources.yaml: the logs and servers that an installation watches."""
