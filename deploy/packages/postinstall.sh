#!/bin/sh
# After an installation or an upgrade. dpkg calls it with "configure" and the version
# before, rpm with how many versions are installed.
set -e
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
case "$1/$2" in
configure/ | 1/*) ;; # a first installation: nothing runs
*) systemctl try-restart seawall.service || true ;;
esac
