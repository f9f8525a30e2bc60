"""The stack of one machine: its list of components, its start, and the process that supervises it."""
