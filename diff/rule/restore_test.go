package rule

import (
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// An update that only adds members is no rule that was added.
func TestRestoreWhatAnUpdateAdded(t *testing.T) {
	s := &state{live: living(t, `{"ref":"x","action":"block","expression":"true"}`), declared: []desired.Other{declaring(t, "x", `{"enabled":false,"action":"block"}`)}}
	back, problem := Custom.Restore(s.done(s.only(t)), s.input())
	if problem != nil || back == nil || !back.Operation.(diff.RuleOperation).Body.IsEnabled() || back.Direction != diff.Strengthens {
		t.Errorf("%+v %+v", back, problem)
	}
}

// Another action takes parameters away that no declaration can say; a revert has them.
func TestRestoreParametersThatNobodyDeclares(t *testing.T) {
	const was = `{"ref":"x","action":"skip","expression":"true","action_parameters":{"phase":"current"}}`
	s := &state{live: living(t, was), declared: []desired.Other{declaring(t, "x", `{"action":"block"}`)}}
	back, problem := Custom.Restore(s.done(s.only(t)), s.input())
	if problem != nil || back == nil {
		t.Fatalf("%+v %+v", back, problem)
	}
	s.done(*back)
	if got, want := canonical(s.live)[0], canonical(living(t, was))[0]; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A rule that stood behind one without a ref comes back there, not to the top.
func TestRestoreBehindARuleWithoutARef(t *testing.T) {
	s := &state{
		live: living(t, `{"ref":"b","action":"block","expression":"true"}`, `{"action":"block","expression":"true"}`,
			`{"ref":"x","action":"skip","expression":"true"}`),
		prunable: removing("x", "id2"),
	}
	back, problem := Custom.Restore(s.done(s.only(t)), s.input())
	if problem != nil || back == nil {
		t.Fatalf("%+v %+v", back, problem)
	}
	if p := back.Operation.(diff.RuleOperation).Position; p == nil || p.After == nil || *p.After != "id1" {
		t.Errorf("%+v", p)
	}
}

// A rule that was updated and then removed comes back as it was before both.
func TestRestoreAnUpdateAndARemoval(t *testing.T) {
	const was = `{"ref":"x","action":"skip","expression":"true","action_parameters":{"phase":"current","ruleset":"current"}}`
	s := &state{live: living(t, was), declared: []desired.Other{declaring(t, "x", `{"action":"block","response":{"content":"no"}}`)}}
	first := s.done(s.only(t))
	s.declared, s.prunable = nil, removing("x", "id0")
	r := s.done(s.only(t))
	for i := range r.Members { // as reconcile/revert puts two writes together
		if n := slices.IndexFunc(first.Members, func(m diff.Restored) bool { return m.Path == r.Members[i].Path }); n >= 0 {
			r.Members[i].Before = first.Members[n].Before
			first.Members = slices.Delete(first.Members, n, n+1)
		}
	}
	r.Members = append(r.Members, first.Members...)
	back, problem := Custom.Restore(r, s.input())
	if problem != nil || back == nil {
		t.Fatalf("%+v %+v", back, problem)
	}
	rule := back.Operation.(diff.RuleOperation).Body
	rule.ID = "id0"
	if got, want := canonical([]edge.Rule{rule})[0], canonical(living(t, was))[0]; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A rule that was removed, and added once more, is what it was before both.
func TestRestoreARemovalAndAnAddition(t *testing.T) {
	const was = `{"ref":"x","action":"block","expression":"true","action_parameters":{"response":{"status_code":403,"content":"no","content_type":"text/plain"}}}`
	theirs := `{"ref":"theirs","action":"log","expression":"true"}`
	s := &state{live: living(t, theirs, was), prunable: removing("x", "id1")}
	removed := s.done(s.only(t))
	s.declared = []desired.Other{declaring(t, "x", `{"action":"skip","expression":"false","skip":{"ruleset":"current"},"order":"first"}`)}
	added := s.only(t)
	body := added.Operation.(diff.RuleOperation).Body
	body.ID = "new"
	s.live = slices.Insert(s.live, 0, body)
	r := removed
	for _, f := range added.Fields { // as reconcile/revert puts two writes together
		if n := slices.IndexFunc(r.Members, func(m diff.Restored) bool { return m.Path == f.Path }); n >= 0 {
			r.Members[n].Written = jsonOf(f.New)
			continue
		}
		r.Members = append(r.Members, diff.Restored{Path: f.Path, Written: jsonOf(f.New)})
	}
	back, problem := Custom.Restore(r, s.input())
	if problem != nil || back == nil || back.Action() != diff.ActionUpdate {
		t.Fatalf("%+v %+v", back, problem)
	}
	o := back.Operation.(diff.RuleOperation)
	if o.Position == nil || o.Position.After == nil || *o.Position.After != "id0" || o.Target.Rule != "new" {
		t.Errorf("%+v", o)
	}
	o.Body.ID = "id1"
	if got, want := canonical([]edge.Rule{o.Body})[0], canonical(living(t, theirs, was)[1:])[0]; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s.live[0].Expression = "ip.src eq 192.0.2.1"
	if back, problem := Custom.Restore(r, s.input()); problem == nil || problem.State != diff.ChangedSince {
		t.Errorf("%+v %+v", back, problem)
	}
}

// A revert is judged as what is declared is: a challenge that comes back in front of a block weakens.
func TestRestoreAChallengeInFrontOfABlock(t *testing.T) {
	const block, challenge = `{"ref":"b","action":"block","expression":"true"}`, `{"ref":"x","action":"challenge","expression":"true"}`
	for name, c := range map[string]struct {
		live     []string
		declared string // empty: the rule is removed
		again    string // what is declared once it was removed; empty: nothing
		want     diff.Direction
	}{
		"switched off in front":   {[]string{challenge, block}, `{"enabled":false,"action":"challenge"}`, "", diff.Weakens},
		"switched off behind":     {[]string{block, challenge}, `{"enabled":false,"action":"challenge"}`, "", diff.Strengthens},
		"a log in front":          {[]string{challenge, block}, `{"action":"log"}`, "", diff.Weakens},
		"removed in front":        {[]string{challenge, block}, "", "", diff.Weakens},
		"removed behind":          {[]string{block, challenge}, "", "", diff.Strengthens},
		"removed, and added anew": {[]string{challenge, block}, "", `{"action":"log","expression":"true"}`, diff.Weakens},
	} {
		s := &state{live: living(t, c.live...)}
		if c.declared != "" {
			s.declared = []desired.Other{declaring(t, "x", c.declared)}
		} else {
			s.prunable = removing("x", s.live[byRef(s.live, "x")].ID)
		}
		r := s.done(s.only(t))
		if c.again != "" {
			s.declared, s.prunable = []desired.Other{declaring(t, "x", c.again)}, nil
			added := s.only(t)
			body := added.Operation.(diff.RuleOperation).Body
			body.ID = "new"
			s.live = slices.Insert(s.live, 0, body)
			for _, f := range added.Fields { // as reconcile/revert puts two writes together
				if n := slices.IndexFunc(r.Members, func(m diff.Restored) bool { return m.Path == f.Path }); n >= 0 {
					r.Members[n].Written = jsonOf(f.New)
				}
			}
		}
		back, problem := Custom.Restore(r, s.input())
		if problem != nil || back == nil || back.Direction != c.want {
			t.Errorf("%s: %+v %+v, want %s", name, back, problem, c.want)
		}
	}
}
