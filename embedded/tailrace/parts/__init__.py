"""The parts of the embedded stack, one module each. `tailrace.stack.assembly` puts them together."""
