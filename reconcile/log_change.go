package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// change is what a line says of a change: where, why, what, and what proved it.
func (l *Logger) change(r Report, result Result) []any {
	c := result.Change
	commit := c.Origin.Commit
	if commit == "" {
		commit = r.Commit
	}
	trigger := "drift"
	switch {
	case c.Level() == edge.LevelCredential:
		trigger = "tokens"
	case r.Trigger == TriggerSync:
		trigger = "commit"
	}
	proof := ""
	if result.Version != "" {
		proof = "read back as version " + result.Version
	}
	action := string(c.Action())
	changes := members(c.Fields)
	if c.Level() == edge.LevelCredential {
		action, changes = "", ofToken(c) // it has lines of its own
	}
	if c.Action() == diff.ActionUpdate {
		action = "" // nearly all are
	}
	attrs := []any{
		"zone", c.Zone, "account", c.Account, "deployment", c.Called(), "token", c.Token, "action", action, "commit", commit, "trigger", trigger,
		"direction", string(c.Direction), "changes", changes, "origin", c.Origin.String(), "requests", result.Calls, "proof", proof,
	}
	if result.Err != nil {
		attrs = append(attrs, "outcome", string(result.Outcome), "error", result.Err.Error())
	}
	return attrs
}

// mostMembers is how many members of a change one line names.
const mostMembers = 8

// members says what becomes of each member, "overrides.action: log → block", at most 8 of
// them.
func members(fields []diff.Field) []string {
	list := make([]string, 0, min(len(fields), mostMembers+1))
	for i, f := range fields {
		if i == mostMembers {
			return append(list, fmt.Sprintf("and %d more", len(fields)-i))
		}
		list = append(list, string(f.Path)+": "+shown(f.Old)+" → "+shown(f.New))
	}
	return list
}

// ofToken says which rights of a token come and go, and what becomes of the members that say
// nothing of rights.
func ofToken(c diff.Change) []string {
	others := slices.DeleteFunc(slices.Clone(c.Fields), func(f diff.Field) bool {
		return len(c.Rights) > 0 && (f.Path == "policies" || f.Path == "condition" || f.Path == "expires_on" || f.Path == "not_before")
	})
	list := make([]string, 0, mostMembers+1)
	for i, r := range c.Rights {
		if i == mostMembers {
			list = append(list, fmt.Sprintf("and %d more rights", len(c.Rights)-i))
			break
		}
		list = append(list, r.Text)
	}
	return append(list, members(others)...)
}

// shown is a value in a log: a number, a boolean or a short word. Of anything else only
// its length is told: what stands in an expression may be confidential.
func shown(value any) string {
	switch v := value.(type) {
	case nil:
		return "none"
	case fmt.Stringer:
		return shown(v.String())
	}
	text := fmt.Sprint(value)
	if len(text) <= longestWord && !strings.ContainsFunc(text, notOfAWord) {
		return text
	}
	return fmt.Sprintf("(%d bytes)", len(text))
}

// longestWord is how long a value may be that is shown: no secret is that short.
const longestWord = 24

func notOfAWord(r rune) bool {
	return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || strings.ContainsRune("_.-+", r))
}

// unproved writes of what was not proved, where it is news. It is a function of its own: what a
// function literal names is on the heap in each call of who has it.
func (l *Logger) unproved(ctx context.Context, r Report, result Result, news func(kind, what string, write func())) {
	news("results", failureOf(result), func() { l.failed(ctx, r, result) })
}
