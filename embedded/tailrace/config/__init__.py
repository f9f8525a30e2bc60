"""Settings, the home directory, YAML files, templates and the installed jar."""
