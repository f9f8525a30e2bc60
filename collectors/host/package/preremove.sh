#!/bin/sh
# Of dpkg ("remove") and rpm (0). An upgrade stops nothing.
set -e
case "$1" in
remove | 0)
    if [ -d /run/systemd/system ]; then
        systemctl disable --now @UNITS@
    fi
    find /usr/lib/tailrace -name __pycache__ -prune -exec rm -r {} +
    ;;
esac
