package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// LookedAt says when an earlier phase was last looked at for skip rules.
type LookedAt struct {
	Level edge.Level `json:"level"` // the zone, or its account
	Phase edge.Phase `json:"phase"`
	At    time.Time  `json:"at"`
}

// skipRules says in sentences which skip rules keep requests from the zone's deployments. What a
// decision says already is left out.
func (z Zone) skipRules() (lines []string) {
	for _, b := range z.Bypasses {
		if !z.tells(b) {
			text := b.String()
			lines = append(lines, strings.ToUpper(text[:1])+text[1:]+".")
		}
	}
	return lines
}

// tells reports whether a decision says what there is to say of a skip rule.
func (z Zone) tells(b diff.Bypass) bool {
	return slices.ContainsFunc(z.Decisions, func(d Decision) bool {
		id := string(b.Rule) // of which a reason has the beginning
		return d.Outcome == Bypassed && d.Deployment == b.Deployment && strings.Contains(d.Reason, id[:min(len(id), 8)])
	})
}

// lookedAhead says in a sentence where and when Seawall has looked for skip rules in earlier phases,
// and where not; nothing where that is not known.
func (z Zone) lookedAhead(now time.Time) []string {
	var said []string
	for _, l := range z.Looked {
		said = append(said, fmt.Sprintf("%s of the %s %s", l.Phase, l.Level, Ago(l.At, now)))
	}
	for _, n := range z.NotLookedAt {
		text := fmt.Sprintf("%s of the %s: no (%s)", n.Phase, n.Level, n.Reason)
		if !n.At.IsZero() {
			text += ", last " + Ago(n.At, now)
		}
		said = append(said, text)
	}
	if len(said) == 0 {
		return nil
	}
	return []string{"Seawall has looked for skip rules in earlier phases: " + strings.Join(said, "; ") + "."}
}

// bypasses writes the skip rules that keep requests from a zone's deployments.
func (t *textWriter) bypasses(z Zone, now time.Time) {
	label := "skip rule"
	for _, b := range z.Bypasses {
		t.line(label, "%s", strings.TrimPrefix(b.String(), "skip rule "))
	}
	for _, l := range z.Looked {
		t.line("looked at", "%s of the %s, %s", l.Phase, l.Level, Ago(l.At, now))
	}
	for _, n := range z.NotLookedAt {
		t.line("looked at", "%s of the %s: no (%s)", n.Phase, n.Level, n.Reason)
	}
}

// Words for who may see some zones only: a skip rule of the account may name other zones, and
// so may a reason that quotes one.
const (
	bypassedAlone = "a skip rule keeps requests from it, and that is not accepted"
	releaseAlone  = "remove the skip rule, or accept it in the declaration"
	ofAccount     = "not shown: the rule is of the account"
)

// aloneBypasses are skip rules without what may name other zones.
func aloneBypasses(all []diff.Bypass) []diff.Bypass {
	all = slices.Clone(all)
	for i, b := range all {
		if b.Level == edge.LevelAccount && b.Scope.Level != edge.LevelAccount {
			all[i].Description, all[i].Ref = "", ""
			if !b.Always {
				all[i].Expression = ofAccount
			}
		}
	}
	return all
}

// aloneEntry is an entry of the history without what may name other zones: in one of a skip rule,
// the words of the rule, which may be of the account.
func aloneEntry(e reconcile.Entry) reconcile.Entry {
	if !e.OfSkipRule() || e.Subject.Scope.Level == edge.LevelAccount {
		return e
	}
	e.Members = slices.Clone(e.Members)
	for i, m := range e.Members {
		if e.Members[i].Note = ""; m.Path == "expression" {
			e.Members[i].Old, e.Members[i].New = nil, nil
		}
	}
	return e
}

// aloneNotLooked are the same places without how many zones they concern.
func aloneNotLooked(all []diff.NotLookedAt) []diff.NotLookedAt {
	all = slices.Clone(all)
	for i := range all {
		all[i].Zones = 1
	}
	return all
}
