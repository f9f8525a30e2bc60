"""The components of the stack, one module each. `tailrace_local.stack.assembly` lists them."""
