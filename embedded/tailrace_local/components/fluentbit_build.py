"""Builds Fluent Bit 1.8.15 from source: no package registry provides the program, but the npm package
`fluent-bit` contains its complete source.

Production uses the official image of 5.1; both read the same files of collectors/fluent-bit. The source lacks
one directory, lib/onigmo (a submodule). Debian's Oniguruma has the same interface for the functions that
Fluent Bit calls, so two generated files link that library instead.
"""

import base64
import hashlib
import os
import re
import shutil
import tarfile
from pathlib import Path

from tailrace.config import content_hash
from tailrace.config.resources import PYTHON_PATH
from tailrace_local.supervisor import cache
from tailrace_local.supervisor.component import InstallError, Progress

VERSION = "1.8.15"
NPM_PACKAGE = "fluent-bit@0.0.3"
INTEGRITY = "sha512-aphqYAdWbA78zBOJZ8MMThiMGRKQHFoPl988INriZRnTPYrryyyPlG8csC3ZZOe/xAYgbuBZ4mY94i+RyDRGFQ=="

OS_PACKAGES = {
    "cmake": "/usr/bin/cmake",
    "flex": "/usr/bin/flex",
    "bison": "/usr/bin/bison",
    "pkg-config": "/usr/bin/pkg-config",
    "patch": "/usr/bin/patch",
    "libonig-dev": "/usr/include/oniguruma.h",
    "libssl-dev": "/usr/include/openssl/ssl.h",
    "libsasl2-dev": "/usr/include/sasl/sasl.h",
    "zlib1g-dev": "/usr/include/zlib.h",
}
TOOLS = ("npm", "gcc", "g++", "make")

PLUGINS = frozenset(
    {
        "FLB_IN_TAIL",
        "FLB_IN_LIB",  # the engine does not link without it
        "FLB_IN_EMITTER",
        "FLB_IN_STORAGE_BACKLOG",  # reads the filesystem buffer at start
        "FLB_FILTER_RECORD_MODIFIER",
        "FLB_OUT_KAFKA",
    }
)

# FLB_TLS=Off does not compile. Plugins that the collector's configuration does not use are off, which halves
# the build time.
OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "FLB_RELEASE": "On",
    "FLB_DEBUG": "Off",
    "FLB_TLS": "On",
    "FLB_SQLDB": "On",
    "FLB_HTTP_SERVER": "On",
    "FLB_METRICS": "On",
    "FLB_JEMALLOC": "Off",
    "FLB_SHARED_LIB": "Off",
    "FLB_EXAMPLES": "Off",
    "FLB_AWS": "Off",
    "FLB_SIGNV4": "Off",
    "FLB_PROXY_GO": "Off",
    "FLB_CUSTOM_CALYPTIA": "Off",
    "FLB_BACKTRACE": "Off",
    "FLB_STREAM_PROCESSOR": "Off",
    "FLB_LUAJIT": "Off",
}

ONIGMO_CONFIGURE = """\
#!/bin/sh
# Stands in for Onigmo's own configure: links Debian's Oniguruma under Onigmo's name.
set -e
for argument in "$@"; do
    case "$argument" in --prefix=*) prefix="${argument#--prefix=}" ;; esac
done
mkdir -p "$prefix/lib" "$prefix/include"
echo 'INPUT(-lonig)' > "$prefix/lib/libonigmo.a"
echo '#include <oniguruma.h>' > "$prefix/include/onigmo.h"
"""
ONIGMO_MAKEFILE = "all:\ninstall:\n"

PATCHES = tuple(sorted((PYTHON_PATH / "fluent-bit" / "patches").glob("*.patch")))
"""Changes to the source, in the order of their names. The head of each file explains it."""


def entry(cache_directory: Path) -> Path:
    """Returns the cache entry of exactly this build; it contains bin/fluent-bit."""
    recipe = content_hash.fingerprint(
        INTEGRITY,
        repr(sorted(PLUGINS)),
        repr(sorted(OPTIONS.items())),
        *(patch.read_text() for patch in PATCHES),
    )
    return cache_directory / "fluent-bit" / f"{VERSION}-{recipe}"


def build(cache_directory: Path, progress: Progress) -> None:
    """Downloads, verifies and compiles; about 3 minutes on two cores. Raises InstallError."""
    target = entry(cache_directory)
    with cache.build(target) as draft:
        if target.exists():
            return
        source = _fetch_source(draft, progress)
        _stand_in_for_onigmo(source)
        _apply_patches(source, progress)
        program = _compile(source, draft, progress)
        (draft / "bin").mkdir()
        shutil.move(program, draft / "bin" / "fluent-bit")
        for leftover in ("package", "build"):
            shutil.rmtree(draft / leftover)


def _fetch_source(draft: Path, progress: Progress) -> Path:
    progress.report(f"downloading the source of Fluent Bit {VERSION}")
    progress.run(["npm", "pack", "--silent", NPM_PACKAGE], cwd=draft)
    archive = draft / (NPM_PACKAGE.replace("@", "-") + ".tgz")
    _require_integrity(archive)
    with tarfile.open(archive) as tar:
        tar.extractall(draft, filter="data")
    archive.unlink()
    return draft / "package" / "src" / "fluent-bit"


def _require_integrity(archive: Path) -> None:
    found = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != INTEGRITY:
        raise InstallError(f"{NPM_PACKAGE} has changed: expected {INTEGRITY}, found {found}")


def _stand_in_for_onigmo(source: Path) -> None:
    directory = source / "lib" / "onigmo"
    directory.mkdir(exist_ok=True)
    configure = directory / "configure"
    configure.write_text(ONIGMO_CONFIGURE)
    configure.chmod(0o755)
    (directory / "Makefile").write_text(ONIGMO_MAKEFILE)


def _apply_patches(source: Path, progress: Progress) -> None:
    for patch in PATCHES:
        progress.run(["patch", "--strip=1", "--fuzz=0", "--silent", f"--input={patch}"], cwd=source)


def _compile(source: Path, draft: Path, progress: Progress) -> Path:
    directory = draft / "build"
    progress.report(f"configuring Fluent Bit {VERSION}")
    progress.run(["cmake", "-S", source, "-B", directory, *_definitions(source)])
    progress.report(f"compiling Fluent Bit {VERSION} (about 2 minutes)")
    jobs = str(len(os.sched_getaffinity(0)))
    progress.run(["nice", "-n", "10", "make", "-j", jobs, "-C", directory, "fluent-bit-bin"])
    program = directory / "bin" / "fluent-bit"
    progress.run(["strip", program])
    return program


def _definitions(source: Path) -> list[str]:
    text = (source / "CMakeLists.txt").read_text()
    plugins = sorted(set(re.findall(r"option\((FLB_(?:IN|OUT|FILTER)_\w+)", text)))
    switches = {plugin: "On" if plugin in PLUGINS else "Off" for plugin in plugins}
    return [f"-D{name}={value}" for name, value in {**OPTIONS, **switches}.items()]
