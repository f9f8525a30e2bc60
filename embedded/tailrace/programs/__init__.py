"""The collectors and services of any deployment: configuration, command and health."""
