"""Serves ClickHouse's own HTTP and native listeners out of libchdb.so.

    clickhouse_server.py LIBRARY CONFIG DATA_DIRECTORY HOST HTTP_PORT NATIVE_PORT

The library exports clickhouse-local's command line, which can start the server's listeners (SYSTEM START
LISTEN) and ends with its last query. That one reads from a pipe that nobody writes to, so that the engine
serves until SIGTERM or SIGINT closes the pipe; it then shuts down in order. Standard library only: the
process must not fork or load other native libraries once the engine is open.
"""

import ctypes
import os
import signal
import sys
import threading

STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT}


def main(library: str, config: str, data: str, host: str, http_port: str, native_port: str) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    reading_end, writing_end = os.pipe()
    threading.Thread(target=_close_on_signal, args=(writing_end,), daemon=True).start()
    _serve(
        library,
        [
            "clickhouse-local",
            f"--config-file={config}",
            f"--path={data}",
            f"--listen_host={host}",
            f"--http_port={http_port}",
            f"--tcp_port={native_port}",
            f"--query=SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP; {_wait_for_end_of(reading_end)}",
        ],
    )


def _wait_for_end_of(descriptor: int) -> str:
    return (
        f"SELECT count() FROM file('/proc/self/fd/{descriptor}', LineAsString) "
        "SETTINGS max_execution_time = 0 FORMAT Null"
    )


def _close_on_signal(writing_end: int) -> None:
    signal.sigwait(STOP_SIGNALS)
    os.close(writing_end)


def _serve(library: str, arguments: list[str]) -> None:
    """Returns when the last query has ended. Exits with the engine's message if it failed."""
    engine = ctypes.CDLL(library)
    engine.chdb_query_cmdline.restype = ctypes.c_void_p
    engine.chdb_result_error.restype = ctypes.c_char_p
    engine.chdb_result_error.argtypes = [ctypes.c_void_p]
    argv = (ctypes.c_char_p * (len(arguments) + 1))(*[word.encode() for word in arguments], None)
    result = engine.chdb_query_cmdline(len(arguments), argv)
    if result and (error := engine.chdb_result_error(result)):
        sys.exit(error.decode(errors="replace"))


if __name__ == "__main__":
    main(*sys.argv[1:])
