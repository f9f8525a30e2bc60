"""The components of the stack, one module each. `tailrace_local.supervisor.assembly` lists them."""
