package show

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

func at(line int) desired.Origin {
	return desired.Origin{Commit: "c1", File: "a.cue", Line: line, Column: 2}
}

func of[T any](value T, line int) *desired.Declared[T] {
	return &desired.Declared[T]{Value: value, Origin: at(line)}
}

func zone() desired.Zone {
	rule := func(id edge.RuleID, action edge.Action, line int) desired.RuleOverride {
		return desired.RuleOverride{Rule: desired.RuleRef{ID: id}, Origin: at(line), Override: desired.Override{Action: of(action, line)}}
	}
	return desired.Zone{Key: "shop.example", Origin: at(1), Deployments: []desired.Deployment{{
		Ruleset: "core", Origin: at(2), Enabled: desired.Declared[bool]{Value: true}, Paranoia: of(3, 3),
		Disable: desired.Disable{Tags: []desired.Declared[string]{*of("beta", 4), *of("old", 5)}},
		Rules:   []desired.RuleOverride{rule("r1", "log", 6), rule("r2", "block", 7)}, Unmanaged: of(desired.Keep, 8),
	}}}
}

// Elements of lists are compared by what they are about, whatever their order.
func TestBeside(t *testing.T) {
	live := zone().Deployments[0]
	live.Paranoia = of(2, 0)
	live.Disable.Tags = []desired.Declared[string]{*of("other", 0), *of("beta", 0)}
	live.Rules = []desired.RuleOverride{live.Rules[1], {Rule: desired.RuleRef{ID: "r1"}, Override: desired.Override{Action: of(edge.ActionBlock, 0)}}}
	live.Decisions = []desired.Decision{{Unmanaged: desired.Keep, Rule: desired.RuleRef{ID: "gone"}}}
	s := Zone(desired.Account{Key: "prod"}, zone(), "c1", []Live{{As: live, Describe: func(r desired.RuleRef) string { return "about " + string(r.ID) }}}, "")
	var got []string
	for _, m := range s.Parts[0].Members {
		got = append(got, strings.TrimSpace(strings.Join([]string{m.Path, string(m.State), m.declared, m.live, m.Note}, " ")))
	}
	if want := []string{
		"enabled as_declared true true",
		"paranoia differs 3 2",
		`disable.tags as_declared "beta" "beta"`,
		`disable.tags differs "old"`,
		`rules differs {id: "r1", action: "log"} {id: "r1", action: "block"} about r1`,
		`rules as_declared {id: "r2", action: "block"} {id: "r2", action: "block"} about r2`,
		`unmanaged decision "keep"`,
		`disable.tags not_declared  "other"`,
		`override not_declared  {id: "gone"} about gone`,
	}; !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The newest change of what a zone declares or shares counts; one that is not committed is newer.
func TestTrace(t *testing.T) {
	s := Zone(desired.Account{}, zone(), "c1", nil, "no platform")
	places := s.Places()
	if slices.ContainsFunc(places, func(o desired.Origin) bool { return o.Commit != "" }) || len(places) != 8 {
		t.Fatalf("places %v", places)
	}
	day := func(n int) *gitrepo.LastChange {
		return &gitrepo.LastChange{CommitInfo: gitrepo.CommitInfo{Hash: strings.Repeat("0123456789"[n:n+1], 40), Time: time.Unix(0, 0).AddDate(0, 0, n)}}
	}
	found := evaluate.Origins{Places: make([]evaluate.Provenance, len(places))}
	for i, place := range places {
		found.Places[i] = evaluate.Provenance{Shared: "_gold", Line: day(place.Line), Part: day(9 - place.Line)}
	}
	s.Trace(places, found)
	paranoia := s.Parts[0].Members[1]
	if s.Changed.Commit[:1] != "8" || paranoia.Changed.Commit[:1] != "3" || paranoia.Tier != "_gold" || s.HistoryUnknown != "" {
		t.Errorf("changed %v, paranoia %+v", s.Changed, paranoia)
	}
	found.Places[3].Part = &gitrepo.LastChange{Uncommitted: true}
	if s.Trace(places, found); !s.Changed.Uncommitted {
		t.Errorf("changed %v", s.Changed)
	}
	if s.Trace(places, evaluate.Origins{Places: make([]evaluate.Provenance, len(places)), Unread: "no store"}); s.HistoryUnknown != "no store" || s.Changed != nil {
		t.Errorf("history unknown %q, changed %v", s.HistoryUnknown, s.Changed)
	}
}

func TestToken(t *testing.T) {
	token := desired.Token{Key: "ci", Name: "ci", Origin: at(1), ExpiresOn: "2030-01-01T00:00:00Z", Places: map[string]desired.Origin{"expires_on": at(5)}}
	then := time.Unix(0, 0)
	s := Token(token, "c1", []diff.TokenRecord{
		{Key: "ci", ID: "new", State: diff.TokenConfirmed, At: then.Add(time.Hour), Delivered: true}, {Key: "ci", ID: "old", At: then}, {Key: "other", ID: "x", At: then.Add(2 * time.Hour)},
	}, "")
	if want := "confirmed since 1970-01-01T01:00:00Z, expires never, its secret is delivered"; s.ID != "new" || s.Record.String() != want {
		t.Errorf("%s: %s", s.ID, s.Record)
	}
	var b strings.Builder
	if err := s.Text(&b); err != nil || !strings.Contains(b.String(), "\nlive      confirmed since") || !strings.Contains(b.String(), `"2030-01-01T00:00:00Z"  a.cue:5:2`) {
		t.Errorf("%v\n%s", err, b.String())
	}
}
