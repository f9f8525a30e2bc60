"""The subcommands of bin/tailrace, one module each."""
