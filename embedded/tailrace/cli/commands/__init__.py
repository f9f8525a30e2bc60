"""The subcommands that work with any installation, one module each.

A module has HELP (one line), EXAMPLES (command lines), `configure(parser)` if it takes arguments, and
`run(arguments, context)`, which returns an Exit. Errors are raised; `tailrace.cli.main` converts them to a
message and an exit code.
"""
