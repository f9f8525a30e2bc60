"""Merkle trees of RFC 6962, section 2.1 (RFC 9162 hashes alike), with SHA-256.

Hashes are 32 bytes. Proofs are lists of hashes from the leaf's sibling up.
"""

import hashlib
from collections.abc import Iterable, Sequence
from operator import add

_sha256 = hashlib.sha256
EMPTY = _sha256(b"").digest()
"""The root of a tree without leaves."""
_LEAF, _NODE = _sha256(b"\0"), _sha256(b"\1")


def leaf_hash(data: bytes) -> bytes:
    return _sha256(b"\0" + data).digest()


def leaf_hashes(leaves: Iterable[bytes]) -> list[bytes]:
    """Returns the hashes of many leaves, quicker than one by one."""
    return _hashes(_LEAF, leaves)


def node_hash(left: bytes, right: bytes) -> bytes:
    return _sha256(b"\1" + left + right).digest()


def root(hashes: Sequence[bytes]) -> bytes:
    """Returns the root of a tree with these leaf hashes: the last node of an odd level moves up as it is."""
    level = list(hashes)
    if not level:
        return EMPTY
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        level = _hashes(_NODE, map(add, level[::2], level[1::2])) + odd
    return level[0]


def _hashes(start: "hashlib._Hash", parts: Iterable[bytes]) -> list[bytes]:
    """A copy of a begun hash costs a third less than a new one, for which OpenSSL looks up the algorithm."""
    copy = start.copy
    return [hash_.digest() for part in parts if not (hash_ := copy()).update(part)]


def inclusion(hashes: Sequence[bytes], index: int) -> list[bytes]:
    """Returns the proof that a leaf is in the tree of all hashes. Raises IndexError."""
    if not 0 <= index < len(hashes):
        raise IndexError(f"leaf {index} of a tree of {len(hashes)} leaves")
    proof, level = [], list(hashes)
    while len(level) > 1:
        if (sibling := index ^ 1) < len(level):
            proof.append(level[sibling])
        level = [root(level[at : at + 2]) for at in range(0, len(level), 2)]
        index //= 2
    return proof


def consistency(hashes: Sequence[bytes], size: int) -> list[bytes]:
    """Returns the proof that the tree of the first `size` leaves is a prefix of the tree of all hashes."""
    if not 0 <= size <= len(hashes):
        raise IndexError(f"a prefix of {size} of a tree of {len(hashes)} leaves")
    return _subproof(hashes, size, True) if 0 < size < len(hashes) else []


def _subproof(hashes: Sequence[bytes], size: int, is_known: bool) -> list[bytes]:
    """SUBPROOF of RFC 6962, section 2.1.2; `is_known`: the verifier has the root of these leaves."""
    if size == len(hashes):
        return [] if is_known else [root(hashes)]
    half = split(len(hashes))
    if size <= half:
        return [*_subproof(hashes[:half], size, is_known), root(hashes[half:])]
    return [*_subproof(hashes[half:], size - half, False), root(hashes[:half])]


def split(size: int) -> int:
    """Returns the largest power of two below `size`, which is at least 2."""
    return 1 << (size - 1).bit_length() - 1


def root_from_inclusion(index: int, size: int, leaf: bytes, proof: Sequence[bytes]) -> bytes | None:
    """Returns the root that a proof leads to; None if no proof of this length exists (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return None
    at, last, found = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return None
        if at % 2 or at == last:
            found = node_hash(sibling, found)
            while at and not at % 2:
                at, last = at >> 1, last >> 1
        else:
            found = node_hash(found, sibling)
        at, last = at >> 1, last >> 1
    return found if last == 0 else None


def verify_inclusion(index: int, size: int, leaf: bytes, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether the leaf hash is at this index of the tree."""
    return root_from_inclusion(index, size, leaf, proof) == root


def verify_consistency(size1: int, root1: bytes, size2: int, root2: bytes, proof: Sequence[bytes]) -> bool:
    """Whether the first tree is a prefix of the second (RFC 9162, 2.1.4.2)."""
    if size1 == size2 or size1 == 0:
        return not proof and (root1 == root2 if size1 else root1 == EMPTY)
    if not 0 < size1 < size2 or not proof:
        return False
    return _prefix_roots(size1, root1, size2, list(proof)) == (root1, root2)


def _prefix_roots(size1: int, root1: bytes, size2: int, proof: list[bytes]) -> tuple[bytes, bytes] | None:
    if size1 & (size1 - 1) == 0:
        proof = [root1, *proof]
    at, last = size1 - 1, size2 - 1
    while at % 2:
        at, last = at >> 1, last >> 1
    first = second = proof[0]
    for sibling in proof[1:]:
        if last == 0:
            return None
        if at % 2 or at == last:
            first, second = node_hash(sibling, first), node_hash(sibling, second)
            while at and not at % 2:
                at, last = at >> 1, last >> 1
        else:
            second = node_hash(second, sibling)
        at, last = at >> 1, last >> 1
    return (first, second) if last == 0 else None
