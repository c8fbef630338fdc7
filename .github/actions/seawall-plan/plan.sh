#!/usr/bin/env bash
# Plans what merging a pull request would change, and ends as the check is to end.
# Argument: the file for the plan.
set -uo pipefail

code=0
seawall plan --dir "$SEAWALL_DIR" --base-url "$SEAWALL_BASE_URL" \
	-o markdown --detailed-exitcode >"$1" || code=$?
cat "$1" >>"$GITHUB_STEP_SUMMARY"
case $code in
0) echo "in sync: merging changes nothing" ;;
2) echo "merging changes the platform as planned" ;;
3) echo "::warning title=seawall::some of these changes weaken protection" ;;
4)
	echo "::error title=seawall::not all of this can be applied; the plan names what and why"
	exit 1
	;;
*)
	echo "::error title=seawall::no plan could be made"
	exit 1
	;;
esac
