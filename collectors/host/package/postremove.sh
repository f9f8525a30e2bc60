#!/bin/sh
# Of dpkg and rpm. Only `apt-get purge` deletes state.
set -e
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
fi
if [ "$1" = purge ] && [ "@NAME@" = tailrace-collector ]; then
    echo "Deleting /var/lib/tailrace: positions in the logs, unsent lines, spools and the key of this host." >&2
    echo "The user tailrace stays, and so do files that you added to /etc/tailrace." >&2
    rm -rf /var/lib/tailrace
fi
