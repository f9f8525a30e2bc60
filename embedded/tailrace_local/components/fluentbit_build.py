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

IN_TAIL = "plugins/in_tail/tail_fs_inotify.c"
WATCH = "    file->watch_fd = watch_fd;\n"
"""The place where the tail input begins to watch a file."""
LOOK_ONCE_MORE = (
    "    /* Nobody was told of what was written since the last read. */\n    tail_signal_pending(ctx);\n"
)
"""A file is read to its end, and then watched. Bytes that are written in between are not read before the next
write, which in an idle log may be hours later. Fluent Bit 2.0.7 and newer check such files every two seconds
(`progress_check_interval`)."""

SCRAM = "plugins/out_kafka/librdkafka-1.7.0/src/rdkafka_sasl_scram.c"
NONCES = """\
                state->cnonce.size + strlen(snonce);
        out->ptr = rd_malloc(out->size+1);
        rd_snprintf(out->ptr, out->size+1, "c=%s,r=%.*s%s",
                    attr_c, (int)state->cnonce.size, state->cnonce.ptr, snonce);
"""
SERVERS_NONCE = """\
                strlen(snonce);
        out->ptr = rd_malloc(out->size+1);
        /* The server's nonce begins with the client's. */
        rd_snprintf(out->ptr, out->size+1, "c=%s,r=%s", attr_c, snonce);
"""
"""librdkafka before 2.6.1 sends the client's nonce twice, which Kafka 4 refuses as a wrong password."""

REQUESTS = "plugins/out_kafka/librdkafka-1.7.0/src/rdkafka_request.c"
PERHAPS_WRITTEN_IS_EXPECTED_NO_MORE = """\
                        if (perr->status &
                            RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED)
                                perr->update_next_ack = rd_true;
                        else
                                perr->update_next_ack = rd_false;
                        perr->update_next_err = rd_true;
"""
PERHAPS_WRITTEN_IS_SENT_AGAIN = """\
                        /* If it was written after all, the broker tells so: a duplicate. */
                        perr->update_next_ack = rd_false;
                        perr->update_next_err = rd_true;
"""
"""A broker that stops may have written messages without confirming them. librdkafka before 2.3.0 counts them
as written. If they were not, and are refused again while the broker starts, the next messages have a sequence
number that is too high. The producer then fails permanently: "sequence desynchronization"."""

OUT_KAFKA = "plugins/out_kafka/kafka.c"
REFUSED = """\
                rd_kafka_err2str(rd_kafka_last_error()));

"""
GIVEN_UP = """\
        if (rd_kafka_last_error() == RD_KAFKA_RESP_ERR__FATAL) {
            /* Lost is what this producer has queued. All else waits in chunks and in the logs. */
            flb_plg_error(ctx->ins, "the producer has given up: Fluent Bit ends, and must be started anew");
            _exit(EXIT_FAILURE);
        }

"""
"""A failed producer accepts no more messages. Unpatched, Fluent Bit continued and lost each line that it
read."""

OUT_KAFKA_CONFIGURATION = "plugins/out_kafka/kafka_config.c"
END = "    flb_kafka_topic_destroy_all(ctx);\n"
SEND_WHAT_IS_QUEUED = """\
    if (ctx->producer) {
        rd_kafka_flush(ctx->producer, 3000);
    }

"""
"""Queued messages are sent when Fluent Bit stops, within three seconds for each output."""

CHANGES = (
    (IN_TAIL, WATCH, WATCH + LOOK_ONCE_MORE),
    (SCRAM, NONCES, SERVERS_NONCE),
    (REQUESTS, PERHAPS_WRITTEN_IS_EXPECTED_NO_MORE, PERHAPS_WRITTEN_IS_SENT_AGAIN),
    (OUT_KAFKA, REFUSED, REFUSED + GIVEN_UP),
    (OUT_KAFKA_CONFIGURATION, END, SEND_WHAT_IS_QUEUED + END),
)
"""Changes of the source: file, text, and replacement."""


def entry(cache_directory: Path) -> Path:
    """Returns the cache entry of exactly this build; it contains bin/fluent-bit."""
    changes = [text for change in CHANGES for text in change]
    recipe = content_hash.fingerprint(
        INTEGRITY, repr(sorted(PLUGINS)), repr(sorted(OPTIONS.items())), *changes
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
        _change(source)
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


def _change(source: Path) -> None:
    for name, before, after in CHANGES:
        text = (source / name).read_text()
        if text.count(before) != 1:
            raise InstallError(f"{name} of Fluent Bit {VERSION} is not as expected")
        (source / name).write_text(text.replace(before, after))


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
