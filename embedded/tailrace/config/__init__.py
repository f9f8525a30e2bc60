"""Settings, the home directory, YAML files and templates."""
