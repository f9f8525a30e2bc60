"""Merkle trees, tiles and signed notes against published vectors and examples of the specifications."""

import base64
import random

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace_verify import merkle, notes, tiles

LEAVES = [
    bytes.fromhex(text)
    for text in (
        *("", "00", "10", "2021", "3031", "40414243", "5051525354555657"),
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
"""Of the first 0 to 8 leaves: the vectors of Certificate Transparency for RFC 6962."""
HASHES = [merkle.leaf_hash(leaf) for leaf in LEAVES]


def test_roots():
    assert [merkle.root(HASHES[:size]).hex() for size in range(9)] == list(ROOTS)


def test_every_inclusion_and_no_other():
    for size in range(1, 9):
        root = bytes.fromhex(ROOTS[size])
        for index in range(size):
            proof = merkle.inclusion(HASHES[:size], index)
            fits = [
                (at, width)
                for width in range(10)
                for at in range(width)
                if merkle.verify_inclusion(at, width, HASHES[index], proof, root)
            ]
            assert (index, size) in fits
            assert not merkle.verify_inclusion(index, size, HASHES[index - 1], proof, root) or size == 1
            assert not merkle.verify_inclusion(index, size, HASHES[index], [*proof, root], root)
            assert not proof or not merkle.verify_inclusion(index, size, HASHES[index], proof[1:], root)


def test_a_published_inclusion_proof():
    """Leaf 5 of the tree of seven leaves in RFC 6962, 2.1.3: [k, j, i], here with the vectors' hashes."""
    proof = merkle.inclusion(HASHES[:7], 5)
    i = merkle.root(HASHES[:4])
    assert proof == [HASHES[4], HASHES[6], i]
    assert merkle.inclusion(HASHES[:7], 6) == [merkle.root(HASHES[4:6]), i]


def test_published_consistency_proofs():
    """RFC 6962, 2.1.3: PROOF(3), (4) and (6) of the tree of seven leaves."""
    a, b, c, d = HASHES[:4]
    e, f, j = HASHES[4], HASHES[5], HASHES[6]
    g, h, i = merkle.node_hash(a, b), merkle.node_hash(c, d), merkle.node_hash(e, f)
    k, right = merkle.node_hash(g, h), merkle.root(HASHES[4:7])
    assert merkle.consistency(HASHES[:7], 3) == [c, d, g, right]
    assert merkle.consistency(HASHES[:7], 4) == [right]
    assert merkle.consistency(HASHES[:7], 6) == [i, j, k]


def test_every_consistency_and_no_forged_one():
    for size in range(9):
        for first in range(size + 1):
            roots = bytes.fromhex(ROOTS[first]), bytes.fromhex(ROOTS[size])
            proof = merkle.consistency(HASHES[:size], first)
            assert merkle.verify_consistency(first, roots[0], size, roots[1], proof)
            assert not merkle.verify_consistency(first, roots[1][::-1], size, roots[1], proof)
            if 0 < first < size:
                assert not merkle.verify_consistency(first, roots[0], size, roots[0], proof)
                assert not merkle.verify_consistency(first, *roots[:1], size, roots[1], [*proof, roots[0]])


def test_paths_of_the_specification():
    assert tiles.path(0, 1234067) == "tile/0/x001/x234/067"
    assert tiles.path(0, 273, 112) == "tile/0/273.p/112"
    assert tiles.path("entries", 0) == "tile/entries/000"
    assert tiles.path(2, 1000) == "tile/2/x001/000"


def test_tiles_of_the_specification():
    """70,000 leaves: 273 full tiles and one of 112; one full tile and one of 17; one of 1. And 256 leaves."""
    listed = list(tiles.tiles(70_000))
    assert len(listed) == 273 + 1 + 1 + 1 + 1
    assert [entry for entry in listed if entry[2] < 256] == [(0, 273, 112), (1, 1, 17), (2, 0, 1)]
    assert list(tiles.tiles(256)) == [(0, 0, 256), (1, 0, 1)]
    assert list(tiles.tiles(257, 256)) == [(0, 1, 1)]


def test_entry_bundles():
    entries = [b"", b"x", b"y" * 65_535]
    assert tiles.unpack(tiles.pack(entries)) == entries
    with pytest.raises(ValueError, match="65536 bytes"):
        tiles.pack([b"y" * 65_536])
    with pytest.raises(ValueError, match="entry 2 is cut"):
        tiles.unpack(tiles.pack(entries)[:-65_536])


def test_trees_from_tiles():
    hashes = [merkle.leaf_hash(b"%d" % number) for number in range(1300)]
    stored = stored_tiles(hashes)
    tree = tiles.Tiles(stored.get, len(hashes))
    assert tree.root() == merkle.root(hashes)
    for size in (1, 255, 256, 257, 512, 700, 1299, 1300):
        assert tree.root(size) == merkle.root(hashes[:size])
        assert tree.consistency(size) == merkle.consistency(hashes, size)
    for index in (0, 255, 256, 1023, 1024, 1299):
        assert tree.inclusion(index) == merkle.inclusion(hashes, index)
    assert tree.inclusion(3, 700) == merkle.inclusion(hashes[:700], 3)
    del stored["tile/0/003"]
    with pytest.raises(tiles.MissingTileError, match="tile/0/003: missing"):
        tiles.Tiles(stored.get, len(hashes)).leaf(800)


def stored_tiles(hashes: list[bytes]) -> dict[str, bytes]:
    found = {}
    for level, index, width in tiles.tiles(len(hashes)):
        span = 256**level
        nodes = (
            merkle.root(hashes[at * span : (at + 1) * span]) for at in range(index * 256, index * 256 + width)
        )
        found[tiles.path(level, index, width)] = b"".join(nodes)
    return found


SEED = random.Random(23)
LOG, WITNESS, OTHER = (Ed25519PrivateKey.from_private_bytes(SEED.randbytes(32)) for _ in range(3))
CHECKPOINT = notes.Checkpoint("tailrace/example", 3, bytes(range(32)))


def test_the_example_note_of_the_specification():
    """C2SP signed-note, section "Verifier keys"."""
    key = notes.parse_vkey("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")
    line = (
        "example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72"
        "IneyaQM="
    )
    note = notes.parse(f"This is an example message.\n\n— {line}\n".encode())
    assert notes.verify(note, key)
    assert key.vkey() == "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
    changed = notes.parse(f"This is another message.\n\n— {line}\n".encode())
    assert notes.verify(changed, key) is False


def test_the_key_ids_of_the_checkpoint_examples():
    """The signature lines of C2SP tlog-cosignature: log and witness, whose keys are not published."""
    text = (
        "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
        "— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q"
        "1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXc"
        "rtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n"
    )
    note = notes.parse(text.encode())
    assert notes.parse_checkpoint(note.text).size == 20852163
    assert [each.key_id.hex() for each in note.signatures] == ["033de0ae", "8d66cf3f"]
    assert int.from_bytes(note.signatures[1].signature[:8], "big") == 1679315147


def test_signed_and_cosigned_checkpoint():
    text = CHECKPOINT.text()
    lines = notes.sign(text, CHECKPOINT.origin, LOG), notes.cosign(text, "witness/1", WITNESS, 1_700_000_000)
    note = notes.parse(notes.assemble(text, lines))
    log, witness = (
        notes.key_of(CHECKPOINT.origin, LOG),
        notes.key_of("witness/1", WITNESS, notes.COSIGNATURE),
    )
    assert notes.parse_checkpoint(note.text) == CHECKPOINT
    assert (notes.verify(note, log), notes.cosigned_at(note, witness)) == (True, 1_700_000_000)
    assert notes.verify(note, notes.key_of("witness/1", WITNESS)) is None
    assert notes.parse_vkey(witness.vkey()) == witness


def test_a_changed_time_of_a_cosignature():
    text = CHECKPOINT.text()
    line = notes.cosign(text, "witness/1", WITNESS, 1_700_000_000)
    name, encoded = line.removeprefix("— ").split()
    data = bytearray(base64.b64decode(encoded))
    data[11] ^= 1
    forged = f"— {name} {base64.b64encode(data).decode()}\n"
    witness = notes.key_of("witness/1", WITNESS, notes.COSIGNATURE)
    assert notes.cosigned_at(notes.parse(notes.assemble(text, [forged])), witness) is None


@pytest.mark.parametrize(
    "note",
    [
        b"text\n",
        b"text\n\n",
        b"text\n\nno dash aGVsbG8=\n",
        "text\n\n— name aGVsbG8=".encode(),
        "te\tt\n\n— name aGVsbG8=\n".encode(),
        "text\n\n— na+me aGVsbG8=\n".encode(),
        "text\n\n— name aGV=\n".encode(),
        b"\xff\n\n\n",
    ],
)
def test_no_notes(note):
    with pytest.raises(notes.NoteError):
        notes.parse(note)


@pytest.mark.parametrize("size", ["", "01", "-1", "1.0", "\u0661", "x"])
def test_sizes_that_are_none(size):
    root = base64.b64encode(bytes(32)).decode()
    with pytest.raises(notes.NoteError):
        notes.parse_checkpoint(f"origin\n{size}\n{root}\n")
