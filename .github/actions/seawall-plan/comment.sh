#!/usr/bin/env bash
# Puts a plan into one comment on a pull request, and edits that at the next push. The
# comment is recognized by its first line and its author, so no other comment is changed.
# Argument: the file with the plan.
set -euo pipefail

marker='<!-- seawall-plan -->'
longest=60000
plan=$1
[ -s "$plan" ] || exit 0
body=$(mktemp)
trap 'rm -f "$body"' EXIT
{
	echo "$marker"
	if [ "$(wc -c <"$plan")" -gt $longest ]; then
		echo "The plan is too long for a comment; it is in the summary of this check."
	else
		cat "$plan"
	fi
} >"$body"

comments=repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments
own=$(gh api --paginate "$comments" --jq \
	'.[] | select(.user.login == "github-actions[bot]" and (.body | startswith("'"$marker"'"))) | .id' | tail -n 1)
if [ -n "$own" ]; then
	gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$own" --field "body=@$body"
else
	gh api --silent --method POST "$comments" --field "body=@$body"
fi
