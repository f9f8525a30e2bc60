"""Every change of a bundle is detected by the signature, the sums or the ZIP structure."""

import json
import os
import shutil
import stat
import struct
import subprocess
import zipfile
import zlib
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace.cli.exit_codes import Exit
from tailrace.config.home import Home
from tailrace.evidence import archive, signing
from tailrace_local.cli import main
from tailrace_verify.evidence import Verdict, verify

KEY, OTHER_KEY = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
FILES = {
    "report.html": b"<h1>Evidence</h1>" * 100,
    "results/accounts.csv": b'"user"\n"app"\n',
    "results/accounts.parquet": b"PAR1 not packed PAR1",
}
ABOUT = {"framework": "pci", "exported_by": "ines", "exported_at": "2026-11-22T04:00:00+00:00"}


def make(path: Path, key: Ed25519PrivateKey = KEY) -> Path:
    content = path.parent / f"{path.name}.content"
    for name, data in {**FILES, archive.PUBLIC_KEY: signing.public_pem(key)}.items():
        (content / name).parent.mkdir(parents=True, exist_ok=True)
        (content / name).write_bytes(data)
    text = archive.manifest(content, ABOUT)
    (content / archive.MANIFEST).write_bytes(text)
    (content / archive.SIGNATURE).write_bytes(key.sign(text))
    archive.write(content, archive.files_of(content), path)
    return path


@pytest.fixture
def bundle(tmp_path) -> Path:
    return make(tmp_path / "evidence.zip")


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def rewrite(path: Path, files: dict[str, bytes]) -> None:
    """Repacks a bundle like a user who has unpacked it."""
    content = path.parent / "again"
    for name, data in files.items():
        (content / name).parent.mkdir(parents=True, exist_ok=True)
        (content / name).write_bytes(data)
    path.unlink()
    archive.write(content, sorted(files), path)


def checked(path: Path) -> Verdict:
    return verify(path, KEY.public_key())


def test_an_unchanged_bundle(bundle):
    found = checked(bundle)
    assert (found.faults, found.files) == ([], len(zipfile.ZipFile(bundle).namelist()))
    assert found.about["exported_by"] == "ines"
    assert found.key_fingerprint == signing.fingerprint(KEY.public_key())
    assert not found.key_from_bundle
    assert verify(bundle).key_from_bundle
    assert stat.S_IMODE(bundle.stat().st_mode) == 0o600


def test_a_repacked_unchanged_bundle(bundle):
    rewrite(bundle, contents(bundle))
    assert checked(bundle).faults == []


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_changed_file(bundle, name):
    files = contents(bundle)
    changed = bytearray(files[name])
    changed[3] ^= 1
    rewrite(bundle, {**files, name: bytes(changed)})
    assert checked(bundle).faults == [f"{name}: changed, its SHA-256 sum differs from the manifest"]


def test_a_longer_file(bundle):
    files = contents(bundle)
    rewrite(bundle, {**files, "report.html": files["report.html"] + b"x"})
    (fault,) = checked(bundle).faults
    assert fault == "report.html: changed, 1701 bytes instead of 1700"


def test_missing_and_added_files(bundle):
    files = contents(bundle)
    del files["report.html"]
    rewrite(bundle, {**files, "results/more.csv": b"x"})
    assert checked(bundle).faults == [
        "report.html: missing",
        "results/more.csv: added, the manifest does not name it",
    ]


@pytest.mark.parametrize("name", [archive.MANIFEST, archive.SIGNATURE])
def test_without_manifest_or_signature_it_is_no_bundle(bundle, name):
    files = contents(bundle)
    del files[name]
    rewrite(bundle, files)
    assert checked(bundle).faults == [f"cannot be read as a bundle: {name} is missing"]


def test_a_manifest_that_was_changed_with_its_file(bundle):
    files = contents(bundle)
    content = bundle.parent / "changed"
    for name, data in {**FILES, "report.html": b"<h1>All is well</h1>"}.items():
        (content / name).parent.mkdir(parents=True, exist_ok=True)
        (content / name).write_bytes(data)
        files[name] = data
    (content / archive.PUBLIC_KEY).write_bytes(files[archive.PUBLIC_KEY])
    files[archive.MANIFEST] = archive.manifest(content, ABOUT)
    rewrite(bundle, files)
    assert checked(bundle).faults == ["manifest.sig: not the signature of manifest.json with this key"]


def test_a_bundle_with_another_signature(tmp_path):
    forged = make(tmp_path / "evidence.zip", OTHER_KEY)
    fingerprint = signing.fingerprint(OTHER_KEY.public_key())
    assert checked(forged).faults == [f"signed with another key: {fingerprint}"]
    assert verify(forged).faults == []  # hence the note that the key came with the bundle


def append(path: Path, entries: list[tuple[str, bytes]]) -> None:
    with zipfile.ZipFile(path, "a") as file:
        for name, data in entries:
            file.writestr(name, data)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_one_name_twice(bundle):
    append(bundle, [("report.html", b"other")])
    assert any("report.html: 2 files of this name" in fault for fault in checked(bundle).faults)


@pytest.mark.parametrize(
    "name",
    [
        "../evil.sh",
        "/etc/cron.d/evil",
        "results/../../evil",
        "a//b",
        "C:evil",
        "a\\b",
        "r\u00e9port",
        "dir/",
        ".",
    ],
)
def test_names_that_lead_elsewhere(bundle, name):
    append(bundle, [(name, b"x")])
    assert any("a path outside of the bundle" in fault for fault in checked(bundle).faults)


def test_a_link(bundle):
    entry = zipfile.ZipInfo("link")
    entry.external_attr = 0o120777 << 16
    with zipfile.ZipFile(bundle, "a") as file:
        file.writestr(entry, "/etc/passwd")
    assert "link: not a plain file" in checked(bundle).faults


@pytest.mark.parametrize("where", ["before", "after", "comment"])
def test_bytes_that_belong_to_no_file(bundle, where):
    data = bundle.read_bytes()
    if where == "comment":
        with zipfile.ZipFile(bundle, "a") as file:
            file.comment = b"a comment"
    else:
        bundle.write_bytes(b"#!/bin/sh\n" + data if where == "before" else data + b"more")
    assert checked(bundle).faults != []


def test_bytes_between_files(bundle):
    """A file that is not in the directory; programs that read from the start find it."""
    with zipfile.ZipFile(bundle, "a") as file:
        file.writestr("hidden.txt", b"x")
        file.filelist = [entry for entry in file.filelist if entry.filename != "hidden.txt"]
        del file.NameToInfo["hidden.txt"]
        file._didModify = True
    assert any("belong to no file" in fault for fault in checked(bundle).faults)


def test_a_second_bundle_behind_the_first(bundle, tmp_path):
    """A program that uses the first directory finds another bundle than one that uses the last."""
    other = make(tmp_path / "other.zip", OTHER_KEY)
    other.write_bytes(other.read_bytes() + bundle.read_bytes())
    assert checked(other).faults != []


def test_a_name_that_differs_between_file_and_directory(bundle):
    data = bundle.read_bytes()
    bundle.write_bytes(data.replace(b"report.html", b"REPORT.HTML", 1))
    assert checked(bundle).faults != []


def unicode_path(name: str, instead: str) -> bytes:
    """Info-ZIP's field with another name, which many programs show and use."""
    data = struct.pack("<BI", 1, zlib.crc32(name.encode())) + instead.encode()
    return struct.pack("<2H", 0x7075, len(data)) + data


def pack(path: Path, files: dict[str, bytes], local: bytes, directory: bytes, large: bool = False) -> None:
    """Packs with extra fields in front of the first file, and in its entry in the directory."""
    with zipfile.ZipFile(path, "w") as file:
        for number, (name, data) in enumerate(sorted(files.items())):
            entry = zipfile.ZipInfo(name, archive.TIME)
            entry.external_attr = 0o100644 << 16
            entry.extra = b"" if number else local
            with file.open(entry, "w", force_zip64=large) as target:
                target.write(data)
            entry.extra = b"" if number else directory


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("where", [{"local"}, {"directory"}, {"local", "directory"}])
@pytest.mark.parametrize("extra", ["another name", "unknown", "sizes"])
def test_extra_fields(bundle, where, large, extra):
    files = contents(bundle)
    field = {
        "another name": unicode_path(min(files), "results/accounts.csv"),
        "unknown": struct.pack("<2HB", 0x9999, 1, 7),
        "sizes": struct.pack("<2H2Q", 1, 16, 5, 5),
    }[extra]
    pack(bundle, files, *(field if place in where else b"" for place in ("local", "directory")), large)
    assert checked(bundle).faults != []


@pytest.mark.parametrize("large", [False, True])
def test_the_field_of_large_sizes_is_allowed(bundle, large):
    pack(bundle, contents(bundle), b"", b"", large)
    assert checked(bundle).faults == []


def test_a_wrong_size(bundle):
    """The directory declares a small size, but the file unpacks to more."""
    data = bytearray(bundle.read_bytes())
    with zipfile.ZipFile(bundle) as file:
        start, entries = file.start_dir, file.infolist()
    at = start
    for entry in entries:
        if entry.filename == "report.html":
            data[at + 24 : at + 28] = struct.pack("<I", 5)
        at += 46 + sum(struct.unpack("<3H", data[at + 28 : at + 34]))
    bundle.write_bytes(data)
    assert checked(bundle).faults == ["report.html: its header and the directory differ"]


def test_every_truncation_and_every_changed_byte_is_found(bundle):
    data = bundle.read_bytes()
    harmless = []
    for at in range(0, len(data), 7):
        changed = bytearray(data)
        changed[at] ^= 0x55
        bundle.write_bytes(changed)
        if not checked(bundle).faults:
            harmless.append(at)
        bundle.write_bytes(data[:at])
        assert checked(bundle).faults, f"cut at {at}"
    # What is left are times and versions of headers, which no reader shows as content.
    assert len(harmless) < len(data) // 7 / 6


@pytest.mark.parametrize(
    "manifest",
    [
        b"",
        b"[]",
        b"{}",
        b'{"format": "tailrace-evidence", "version": 2, "files": []}',
        b'{"format": "tailrace-evidence", "version": 1, "files": [{"name": "a"}]}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_an_invalid_manifest(bundle, manifest):
    rewrite(bundle, {**contents(bundle), archive.MANIFEST: manifest, archive.SIGNATURE: KEY.sign(manifest)})
    (fault,) = checked(bundle).faults
    assert fault.startswith("cannot be read as a bundle: manifest.json")


@pytest.mark.parametrize("data", [b"", b"PK", b"no bundle at all", b"PK\x05\x06" + bytes(18)])
def test_a_file_that_is_no_bundle(tmp_path, data):
    path = tmp_path / "evidence.zip"
    path.write_bytes(data)
    assert len(checked(path).faults) == 1


def test_the_key_is_created_once_and_private(tmp_path):
    home = Home(tmp_path)
    key = signing.installation_key(home)
    assert signing.public_pem(key) == signing.public_pem(signing.installation_key(home))
    (secret,) = (tmp_path / "secrets").iterdir()
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl")
def test_openssl_agrees(bundle, tmp_path):
    for name, data in contents(bundle).items():
        if "/" not in name:
            (tmp_path / name).write_bytes(data)
    subprocess.run(
        [
            "openssl",
            "pkeyutl",
            "-verify",
            "-pubin",
            "-inkey",
            "public-key.pem",
            "-rawin",
            "-in",
            "manifest.json",
            "-sigfile",
            "manifest.sig",
        ],
        cwd=tmp_path,
        check=True,
    )
    der = subprocess.run(
        "openssl pkey -pubin -in public-key.pem -outform DER | sha256sum",
        shell=True,
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert der.stdout.split()[0] == signing.fingerprint(KEY.public_key())


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    for name in [name for name in os.environ if name.startswith("TAILRACE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TAILRACE_HOME", str(tmp_path / "home"))
    return tmp_path


def test_the_command_prints_its_findings(bundle, home, capsys):
    pem = home / "key.pem"
    pem.write_bytes(signing.public_pem(KEY))
    assert main(["evidence", "verify", str(bundle), "--public-key", str(pem)]) == Exit.OK
    shown = capsys.readouterr().out
    assert "unchanged since its export" in shown and "came with the bundle" not in shown
    assert main(["evidence", "verify", str(bundle)]) == Exit.OK
    assert "came with the bundle" in capsys.readouterr().out

    rewrite(bundle, {**contents(bundle), "report.html": b"x"})
    assert main(["evidence", "verify", str(bundle), "--public-key", str(pem)]) == Exit.FAILED
    assert "report.html: changed" in capsys.readouterr().out


def test_the_command_refuses_an_invalid_or_missing_key(bundle, home, capsys):
    pem = home / "key.pem"
    pem.write_text("no key")
    assert main(["evidence", "verify", str(bundle), "--public-key", str(pem)]) == Exit.USAGE
    assert main(["evidence", "verify", str(home / "missing.zip")]) == Exit.FAILED


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--framework", "pci", "--from", "2026-11-01", "-o", "x.zip"],
        ["--framework", "pci", "--from", "2026-11-02", "--to", "2026-11-01", "-o", "x.zip"],
        ["--framework", "pci", "--from", "2099-11-01", "--to", "2099-11-02", "-o", "x.zip"],
    ],
)
def test_an_export_needs_a_period_that_is_over(home, capsys, words):
    assert main(["evidence", *words]) == Exit.USAGE


def test_an_export_needs_a_stack(home, capsys):
    words = ["--framework", "pci", "--from", "2026-11-01", "--to", "2026-11-02", "-o", str(home / "x.zip")]
    assert main(["evidence", *words]) == Exit.NOT_RUNNING
    assert not (home / "x.zip").exists()


def test_the_printed_key_is_that_of_the_home(home, capsys):
    assert main(["evidence", "key"]) == Exit.OK
    shown = capsys.readouterr()
    key = signing.read_public(shown.out.encode())
    assert shown.err == f"fingerprint {signing.fingerprint(key)}\n"


def test_a_manifest_is_readable_text(bundle):
    manifest = json.loads(contents(bundle)[archive.MANIFEST])
    assert [file["name"] for file in manifest["files"]] == sorted([*FILES, archive.PUBLIC_KEY])
