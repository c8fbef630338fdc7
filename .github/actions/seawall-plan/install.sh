#!/usr/bin/env bash
# Downloads a release of Seawall, checks it, and puts it into the folder given. SEAWALL_VERSION
# is a tag such as v1.2.3. SEAWALL_SHA256 is the digest of the binary, where the caller has
# one: without it the release's own list of checksums counts, which detects a damaged
# download, and not a release that was replaced.
set -euo pipefail

folder=$1
releases=${SEAWALL_RELEASES:-https://github.com/seawall-dev/seawall/releases/download}
case ${SEAWALL_VERSION:?} in
v[0-9]*.[0-9]*.[0-9]*) ;;
*)
	echo "SEAWALL_VERSION is $SEAWALL_VERSION, and must be a version such as v1.2.3" >&2
	exit 1
	;;
esac
case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*)
	echo "there is no binary for $(uname -s) here" >&2
	exit 1
	;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*)
	echo "there is no binary for $(uname -m)" >&2
	exit 1
	;;
esac

file=seawall-$os-$arch
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in "$file" SHA256SUMS; do
	curl --fail --silent --show-error --location --retry 3 --max-time 300 \
		--output "$work/$name" "$releases/$SEAWALL_VERSION/$name"
done
if [ -n "${SEAWALL_SHA256:-}" ]; then
	printf '%s  %s\n' "$SEAWALL_SHA256" "$file" >"$work/SHA256SUMS"
fi
(
	cd "$work"
	grep -E "  $file\$" SHA256SUMS >expected || {
		echo "SHA256SUMS of $SEAWALL_VERSION does not list $file" >&2
		exit 1
	}
	if command -v sha256sum >/dev/null; then
		sha256sum --check --quiet expected
	else
		shasum --algorithm 256 --check --quiet expected
	fi
)
mkdir -p "$folder"
install -m 0755 "$work/$file" "$folder/seawall"
