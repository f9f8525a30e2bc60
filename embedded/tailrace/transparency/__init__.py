"""The transparency log: an append-only Merkle log over signed ranges and the rows of each minute."""
