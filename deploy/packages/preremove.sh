#!/bin/sh
# Before a removal, and before the files of an upgrade, which leaves the service alone:
# dpkg calls it with "remove" or "upgrade", rpm with how many versions stay.
set -e
case "$1" in
upgrade | 1) exit 0 ;;
esac
command -v systemctl >/dev/null || exit 0
if [ -d /run/systemd/system ]; then
	systemctl stop seawall.service || true
fi
systemctl disable seawall.service >/dev/null 2>&1 || true
