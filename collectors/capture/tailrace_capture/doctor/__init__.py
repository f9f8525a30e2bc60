"""Says what keeps Tailrace from seeing a server, and how to mend it: with the very statement or line to
use."""
