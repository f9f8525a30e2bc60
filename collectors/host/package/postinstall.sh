#!/bin/sh
# Of dpkg ("configure") and rpm (1 or 2). The services are not enabled: they need settings first.
set -e
case "$1" in
configure | 1 | 2)
    systemd-sysusers /usr/lib/sysusers.d/tailrace.conf
    if [ -d /run/systemd/system ]; then
        systemctl daemon-reload
        systemctl try-restart @UNITS@
    fi
    ;;
esac
