package reconciletest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// T is what *testing.T and *rapid.T have in common.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Fleet is the truth about the zones of a platform, whatever it answers.
type Fleet struct {
	T        T
	Platform *mem.Platform
}

// NewFleet is the fleet of a platform in memory.
func NewFleet(t T, c mem.Config) Fleet {
	t.Helper()
	platform, err := mem.New(c)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return Fleet{t, platform}
}

// Entry is the entry point of a zone.
func (f Fleet) Entry(i int) edge.Ruleset {
	f.T.Helper()
	entry := f.Platform.StoredEntryPoint(mem.FleetZone(i))
	if entry == nil {
		f.T.Fatalf("zone %d has no entry point", i)
	}
	return *entry
}

// Click changes the first rule of a zone the way a person in a dashboard does.
func (f Fleet) Click(i int, change func(*edge.Overrides)) {
	f.T.Helper()
	entry := f.Entry(i)
	o := edge.Overrides{}
	if live := entry.Rules[0].ActionParameters.Overrides; live != nil {
		o = *live
	}
	change(&o)
	entry.Rules[0].ActionParameters.Overrides = &o
	if err := f.Platform.SetEntryPoint(mem.FleetZone(i), entry); err != nil {
		f.T.Fatalf("%v", err)
	}
}

// SwitchedOff is the click that leaves exactly these tags off.
func SwitchedOff(tags ...string) func(*edge.Overrides) {
	return func(o *edge.Overrides) {
		o.Categories = nil
		for _, tag := range tags {
			o.Categories = append(o.Categories, edge.CategoryOverride{Category: tag, Enabled: new(false)})
		}
	}
}

// Off are the tags that are off in a zone.
func (f Fleet) Off(i int) []string { f.T.Helper(); return TagsOff(f.Entry(i).Rules[0]) }

// TagsOff are the tags that a rule switches off.
func TagsOff(rule edge.Rule) (tags []string) {
	if rule.ActionParameters == nil || rule.ActionParameters.Overrides == nil {
		return nil
	}
	for _, c := range rule.ActionParameters.Overrides.Categories {
		if c.Enabled != nil && !*c.Enabled {
			tags = append(tags, c.Category)
		}
	}
	slices.Sort(tags)
	return tags
}

// Calls are recorded calls in short: "list", "managed core", "read 3", "look 3" for a phase that
// is before that of deployments, "write 3" (zones of a fleet by number, others by id).
func Calls(r *Recorder) []string {
	calls := r.Calls()
	for i, call := range calls {
		calls[i] = Shorten(call)
	}
	return calls
}

// Shorten is a recorded call in short; see [Calls].
func Shorten(call string) string {
	verb, path, _ := strings.Cut(call, " ")
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	who := strings.TrimLeft(strings.TrimPrefix(parts[1], "f1ee"), "0")
	if parts[0] == "accounts" && (verb != "GET" || len(parts) == 6) {
		who = "account"
	}
	if what := writeIn(verb, parts[len(parts)-1]); what != "" {
		return what + " " + who
	}
	switch {
	case parts[0] == "zones" && len(parts) == 6 && slices.Contains(diff.PhasesAhead[:], edge.Phase(parts[4])):
		return "look " + who
	case parts[0] == "zones", len(parts) == 6:
		return "read " + who
	case len(parts) == 3 && parts[1] == string(mem.Account):
		return "list"
	case len(parts) == 3:
		return "list " + parts[1]
	case parts[3] == string(mem.CoreRuleset):
		return "managed core"
	case parts[3] == string(mem.CredentialsRuleset):
		return "managed credentials"
	}
	return "managed " + parts[3]
}

// writeIn is the word for a write; empty for a read.
func writeIn(verb, last string) string {
	if verb == "POST" && last == "rules" {
		return "add"
	}
	return map[string]string{"PATCH": "write", "DELETE": "delete", "POST": "create"}[verb]
}

// Writes counts the writes among calls.
func Writes(calls []string) (n int) {
	for _, call := range calls {
		if strings.HasPrefix(call, "write") {
			n++
		}
	}
	return n
}

// What a platform answers that does not do what it is asked.
var (
	ErrUnauthenticated = &edge.Error{Status: 401, Details: []edge.ErrorDetail{{Code: edge.CodeInvalidToken, Message: "Invalid API Token"}}}
	ErrForbidden       = &edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeNotPermitted, Message: "Unauthorized to access requested resource"}}}
	ErrDown            = &edge.Error{Status: 503}
	ErrLost            = fmt.Errorf("reading the answer: %w: %w", edge.ErrOutcomeUnknown, errors.New("connection reset"))
)
