"""The subcommands that work with any installation, one module each.

A module has a docstring whose first sentence is the purpose, HELP (one line), EXAMPLES (command lines),
`configure(parser)` if it takes arguments, and `run(arguments, context)`, which returns an Exit. EXIT_CODES
(the meaning of codes, where it differs from `Exit`), SEE_ALSO (commands and pages) and KEYS (the keys of the
rows of `--output`, by subcommand) complete its help. Errors are raised; `tailrace.cli.main` converts them to
a message and an exit code.
"""
