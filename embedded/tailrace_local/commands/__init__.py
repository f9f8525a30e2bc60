"""The commands of the one-machine stack, one module each; `tailrace.cli.commands` describes a module."""
