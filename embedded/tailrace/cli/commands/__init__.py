"""The subcommands that work with any installation, one module each.

A module has HELP (one line), EXAMPLES (command lines), `configure(parser)` where it takes arguments, and
`run(arguments, context)`, which returns an Exit. Errors are raised; `tailrace.cli.main` turns them into a
sentence and an exit code.
"""
