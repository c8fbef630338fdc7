package rule

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// living are live rules, each with its id.
func living(t *testing.T, rules ...string) (all []edge.Rule) {
	t.Helper()
	for i, text := range rules {
		var r edge.Rule
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		r.ID = edge.RuleID(fmt.Sprint("id", i))
		all = append(all, r)
	}
	return all
}

// declaring is a declaration, as JSON.
func declaring(t *testing.T, key, text string) desired.Other {
	t.Helper()
	var values map[string]any
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		t.Fatal(err)
	}
	o, err := desired.NewOther(desired.CustomRule, key, desired.Origin{}, values)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// removing says that a rule was declared with prune, and is not declared any more.
func removing(ref string, id edge.RuleID) diff.Pruning {
	return diff.Pruning{Custom.id(difftest.Zone, ref): {Rule: id}}
}

// only is the only change of a plan.
func (s *state) only(t *testing.T) diff.Change {
	t.Helper()
	part := s.plan()
	if len(part.Changes) != 1 || len(part.Problems) > 0 {
		t.Fatalf("%+v %+v", part.Changes, part.Problems)
	}
	return part.Changes[0]
}

// done writes a change, and says what a revert of it knows.
func (s *state) done(c diff.Change) diff.Restoration {
	o := c.Operation.(diff.RuleOperation)
	if i := byID(s.live, o.Target.Rule); o.Do == diff.ActionRemove {
		s.live = append(s.live[:i:i], s.live[i+1:]...)
	} else {
		s.live[i] = o.Body
		s.live[i].ID = o.Target.Rule
	}
	r := diff.Restoration{ID: c.ID()}
	for _, f := range c.Fields {
		r.Members = append(r.Members, diff.Restored{Path: f.Path, Before: jsonOf(f.Old), Written: jsonOf(f.New)})
	}
	return r
}

func TestDirections(t *testing.T) {
	const rule = `{"ref":"r","expression":"true",`
	for name, c := range map[string]struct {
		live, declared string // nothing declared: the rule is removed
		want           diff.Direction
	}{
		"a block is switched off":                {`"action":"block"}`, `{"action":"block","enabled":false}`, diff.Weakens},
		"a block is switched on":                 {`"action":"block","enabled":false}`, `{"action":"block","enabled":true}`, diff.Strengthens},
		"a skip is switched on":                  {`"action":"skip","enabled":false}`, `{"action":"skip","enabled":true}`, diff.Weakens},
		"a log is switched off":                  {`"action":"log"}`, `{"action":"log","enabled":false}`, diff.Weakens},
		"a log becomes a block that is off":      {`"action":"log"}`, `{"action":"block","enabled":false}`, diff.Weakens},
		"a log that is off becomes such a block": {`"action":"log","enabled":false}`, `{"action":"block","enabled":false}`, diff.Neutral},
		"a skip becomes a block that is off":     {`"action":"skip"}`, `{"action":"block","enabled":false}`, diff.Strengthens},
		"what is not known goes":                 {`"action":"serve_error"}`, "", diff.Weakens},
		"a log goes":                             {`"action":"log"}`, "", diff.Weakens},
		"a skip goes":                            {`"action":"skip"}`, "", diff.Strengthens},
		"a skip that is off goes":                {`"action":"skip","enabled":false}`, "", diff.Neutral},
		"a block goes":                           {`"action":"block"}`, "", diff.Weakens},
	} {
		s := &state{live: living(t, rule+c.live), prunable: removing("r", "id0")}
		if c.declared != "" {
			s.declared = []desired.Other{declaring(t, "r", c.declared)}
		}
		if got := s.only(t); got.Direction != c.want {
			t.Errorf("%s: %s, want %s: %+v", name, got.Direction, c.want, got.Fields)
		}
	}
}

// A challenge that comes to be in front of a rule that blocks lets pass what that would have blocked,
// where it is passed.
func TestAChallengeInFrontOfABlock(t *testing.T) {
	const block, off = `{"ref":"b","action":"block","expression":"true"}`, `{"ref":"b","action":"block","expression":"true","enabled":false}`
	for name, c := range map[string]struct {
		live     []string
		declared string
		want     diff.Direction
	}{
		"added in front":                  {[]string{block}, `{"action":"managed_challenge","order":"first"}`, diff.Weakens},
		"added behind":                    {[]string{block}, `{"action":"managed_challenge"}`, diff.Strengthens},
		"added in front of one off":       {[]string{off}, `{"action":"challenge","order":"first"}`, diff.Strengthens},
		"added in front of an unknown":    {[]string{`{"ref":"b","action":"serve_error","expression":"true"}`}, `{"action":"challenge","order":"first"}`, diff.Weakens},
		"added in front, for others":      {[]string{`{"ref":"b","action":"block","expression":"http.host eq \"b\""}`}, `{"action":"challenge","expression":"http.host eq \"a\"","order":"first"}`, diff.Strengthens},
		"a block in front":                {[]string{block}, `{"action":"block","order":"first"}`, diff.Strengthens},
		"switched on in front":            {[]string{`{"ref":"a","action":"challenge","expression":"true","enabled":false}`, block}, `{"action":"challenge","enabled":true}`, diff.Weakens},
		"a log in front becomes one":      {[]string{`{"ref":"a","action":"log","expression":"true"}`, block}, `{"action":"js_challenge"}`, diff.Weakens},
		"a log behind becomes one":        {[]string{block, `{"ref":"a","action":"log","expression":"true"}`}, `{"action":"js_challenge"}`, diff.Strengthens},
		"a challenge in front is a block": {[]string{`{"ref":"a","action":"challenge","expression":"true"}`, block}, `{"action":"block"}`, diff.Strengthens},
	} {
		s := &state{live: living(t, c.live...), declared: []desired.Other{declaring(t, "a", c.declared)}}
		if got := s.only(t); got.Direction != c.want {
			t.Errorf("%s: %s, want %s: %+v", name, got.Direction, c.want, got.Fields)
		}
	}
}

// A block that is to move ahead of a challenge, or to go, is behind it until that is done, and a guard
// may hold that back.
func TestAChallengeInFrontOfABlockThatIsNotToStay(t *testing.T) {
	const logs, block = `{"ref":"x","action":"log","expression":"true"}`, `{"ref":"b","action":"block","expression":"true"}`
	moved := []desired.Other{declaring(t, "b", `{"action":"block","expression":"http.host eq \"q\"","order":"first"}`)}
	for name, c := range map[string]struct {
		live     []string
		declared string
		others   []desired.Other
	}{
		"added":                     {[]string{logs, block}, `{"action":"challenge","expression":"true","order":{"after":"b"}}`, moved},
		"switched on":               {[]string{`{"ref":"a","action":"challenge","expression":"true","enabled":false}`, block}, `{"action":"challenge","enabled":true,"expression":"true"}`, moved},
		"in front of one that goes": {[]string{logs, block}, `{"action":"challenge","expression":"true","order":"first"}`, nil},
	} {
		s := &state{live: living(t, c.live...), declared: append([]desired.Other{declaring(t, "a", c.declared)}, c.others...)}
		s.prunable = removing("b", s.live[len(s.live)-1].ID)
		for _, c := range s.plan().Changes {
			if c.Direction != diff.Weakens {
				t.Errorf("%s: %s %s: %+v", name, c.Deployment, c.Direction, c.Fields)
			}
		}
	}
}

// A rule of others that has a declared ref is adopted where nothing differs, and else taken over,
// which weakens, whatever it does.
func TestTakeover(t *testing.T) {
	s := &state{strange: true, live: living(t, `{"ref":"r","action":"log","expression":"true","description":"theirs"}`)}
	s.declared = []desired.Other{declaring(t, "r", `{"action":"log","expression":"true","enabled":true}`)}
	if part := s.plan(); len(part.Changes) > 0 || len(part.Settled) != 1 {
		t.Errorf("%+v", part)
	}
	s.declared = []desired.Other{declaring(t, "r", `{"action":"block","description":"ours","order":"first"}`)}
	c := s.only(t)
	if c.Direction != diff.Weakens || !strings.HasPrefix(c.Fields[0].Note, "takes over the rule of others") || slices.ContainsFunc(c.Fields, func(f diff.Field) bool { return f.Direction != diff.Weakens }) {
		t.Errorf("%+v", c)
	}
	if s.strange = false; s.only(t).Direction != diff.Strengthens {
		t.Errorf("%+v", s.only(t))
	}
	s.live = nil
	if s.strange = true; s.only(t).Direction != diff.Strengthens { // there is nothing to take over
		t.Errorf("%+v", s.only(t))
	}
}

// Rules of others go where the zone says so, but not those of which nobody can tell what they do. While
// one is still to go, the zone is not as declared.
func TestRulesOfOthersGo(t *testing.T) {
	s := &state{remove: true, live: living(t, `{"ref":"a","action":"log","expression":"true"}`, `{"ref":"b","action":"execute","expression":"true"}`, `{"ref":"c","action":"serve_error","expression":"true"}`)}
	part := s.plan()
	if len(part.Changes) != 1 || part.Changes[0].Deployment != "a" || part.Changes[0].Direction != diff.Weakens || len(part.Settled) > 0 {
		t.Errorf("%+v", part)
	}
	if k := part.Kept; len(k) != 1 || k[0].Members[0].Value != 2 || k[0].About() != "prod / shop.example / custom rules" {
		t.Errorf("%+v", k)
	}
	r := s.done(part.Changes[0])
	if part := s.plan(); len(part.Changes) > 0 || len(part.Settled) != 1 || !part.Settled[0].ID.OfOthers() {
		t.Errorf("%+v", part)
	}
	if back, problem := Custom.Restore(r, s.input()); problem != nil || back == nil || back.Operation.(diff.RuleOperation).Body.Ref != "a" {
		t.Errorf("%+v %+v", back, problem)
	}
	if s.remove = false; len(s.plan().Changes)+len(s.plan().Kept) > 0 { // nothing is declared
		t.Errorf("%+v", s.plan())
	}
}

// What cannot be read is a problem, also where there is only something to remove.
func TestUnreadWithNothingDeclared(t *testing.T) {
	s := &state{prunable: removing("a", "id0")}
	in := s.input()
	in.Live.EntryPoints[difftest.Zone.At(edge.PhaseFirewallCustom)] = diff.Observed[edge.Ruleset]{Err: edge.ErrForbidden}
	if part := Custom.Plan(in); len(part.Problems) != 1 || part.Problems[0].State != diff.Unknown || len(part.Settled) > 0 {
		t.Errorf("%+v", part)
	}
}

// A block that comes to stand behind a skip rule weakens, also where its index is smaller then
// because others move, too.
func TestABlockMovesBehindASkip(t *testing.T) {
	s := &state{
		live: living(t, `{"ref":"x","action":"log","expression":"true"}`, `{"ref":"y","action":"log","expression":"true"}`,
			`{"ref":"b","action":"block","expression":"true"}`, `{"ref":"theirs","action":"skip","expression":"true"}`),
		declared: []desired.Other{
			declaring(t, "b", `{"order":{"after":"theirs"},"action":"block"}`), declaring(t, "x", `{"order":"last","action":"log"}`), declaring(t, "y", `{"order":"last","action":"log"}`),
		},
	}
	for _, c := range s.plan().Changes {
		if c.Direction != diff.Weakens {
			t.Errorf("%s %s: %+v", c.Deployment, c.Direction, c.Fields)
		}
	}
	s.declared = []desired.Other{declaring(t, "b", `{"order":"first","action":"block"}`)}
	if c := s.only(t); c.Direction != diff.Strengthens {
		t.Errorf("%s: %+v", c.Direction, c.Fields)
	}
}

// Of two live rules with one ref none is written.
func TestARefThatIsThereTwice(t *testing.T) {
	s := &state{live: living(t, `{"ref":"x","action":"block","expression":"true"}`, `{"ref":"x","action":"log","expression":"true"}`), declared: []desired.Other{declaring(t, "x", `{"action":"skip"}`)}}
	if part := s.plan(); len(part.Changes) > 0 || len(part.Problems) != 1 || part.Problems[0].State != diff.Blocked {
		t.Errorf("%+v", part)
	}
}

// A rule that somebody gave another ref is not the one that left git: it is not removed, nor
// added once more where git declares it.
func TestPruneLeavesARuleWithAnotherRef(t *testing.T) {
	s := &state{live: living(t, `{"ref":"b","action":"block","expression":"true"}`), prunable: removing("a", "id0"), declared: []desired.Other{declaring(t, "b", `{"action":"block"}`)}}
	if part := s.plan(); len(part.Changes) > 0 || len(part.Problems) > 0 || len(part.Settled) != 2 {
		t.Errorf("%+v", part)
	}
}

// Where the live rule has become a skip rule, its parameters are absorbed: none can be declared
// without.
func TestRedeclareASkip(t *testing.T) {
	entry := edge.Ruleset{Rules: living(t, `{"ref":"x","action":"skip","expression":"true","action_parameters":{"ruleset":"current"}}`)}
	o, live := Custom.Redeclare(declaring(t, "x", `{"action":"block","expression":"true"}`), entry)
	if want := `{"action":"skip","expression":"true","skip":{"ruleset":"current"}}`; !live || o.Value != want {
		t.Errorf("%s, want %s", o.Value, want)
	}
}

// A rule that gets another key is there by the new one before the old one goes, where it protects;
// a skip rule goes first.
func TestARuleThatIsRenamed(t *testing.T) {
	for action, want := range map[string]string{"block": "new old", "skip": "old new"} {
		s := &state{live: living(t, `{"ref":"old","action":"`+action+`","expression":"true"}`), prunable: removing("old", "id0"), declared: []desired.Other{declaring(t, "new", `{"action":"`+action+`"}`)}}
		var got []string
		for _, c := range s.plan().Changes {
			got = append(got, c.Deployment)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", action, got, want)
		}
	}
}

// A place is declared by a rule that has a ref.
func TestRedeclareBesideRulesWithoutARef(t *testing.T) {
	const none, x = `{"action":"block","expression":"true"}`, `{"ref":"x","action":"block","expression":"true"}`
	declared := declaring(t, "x", `{"action":"block","expression":"true","order":"first"}`)
	for want, rules := range map[string][]string{
		`{"action":"block","expression":"true","order":{"after":"a"}}`:  {`{"ref":"a","action":"log","expression":"true"}`, none, x},
		`{"action":"block","expression":"true","order":{"before":"a"}}`: {none, x, `{"ref":"a","action":"log","expression":"true"}`},
		`{"action":"block","expression":"true"}`:                        {none, x},
	} {
		o, live := Custom.Redeclare(declared, edge.Ruleset{Rules: living(t, rules...)})
		if !live || o.Value != want {
			t.Errorf("%s, want %s", o.Value, want)
		}
	}
}
