package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/integration/must"
)

func savedOf(t must.T, p diff.Plan) Saved {
	saved, err := Save(p, difftest.January, time.Hour)
	must.Do(t, err)
	data, err := json.Marshal(saved)
	must.Do(t, err)
	read, err := ReadSaved(bytes.NewReader(data))
	must.Do(t, err)
	return read
}

func TestSavedPlanIsReadBack(t *testing.T) {
	plan := guard.Check(planner.Make(difftest.Tokens(time.Time{}, diff.TokensLive{}, difftest.Token("ci", difftest.RotatedZone))), guard.Facts{})
	saved := savedOf(t, plan)
	if len(saved.Operations) != 1 || saved.Operations[0].About != "token ci" || saved.Operations[0].Action != diff.ActionCreate ||
		!saved.CreatedAt.Equal(difftest.January) || !saved.ExpiresAt.Equal(difftest.January.Add(time.Hour)) {
		t.Errorf("got %+v", saved)
	}
	if lines := saved.Differences(plan); len(lines) != 0 {
		t.Errorf("differs from itself: %v", lines)
	}
}

func TestWhatIsNoSavedPlan(t *testing.T) {
	good, err := json.Marshal(savedOf(t, guard.Check(planner.Make(difftest.Tokens(time.Time{}, diff.TokensLive{}, difftest.Token("ci", difftest.RotatedZone))), guard.Facts{})))
	must.Do(t, err)
	var shown bytes.Buffer
	must.Do(t, render.JSON(&shown, planner.Make(difftest.Tokens(time.Time{}, diff.TokensLive{}))))
	for name, text := range map[string]string{
		"empty": "", "not JSON": "plan", "a plan that was shown": shown.String(), "cut": string(good[:len(good)/2]),
		"another version": strings.Replace(string(good), `{"version":1`, `{"version":2`, 1),
		"altered":         strings.Replace(string(good), `"operations":[{"about"`, `"operations":[{"digest":"sha256:0","about":"token x","action":"delete"},{"about"`, 1),
	} {
		if _, err := ReadSaved(strings.NewReader(text)); !errors.Is(err, ErrNotSaved) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// What two readers would understand differently is no saved plan, and its place is named.
func TestSavedPlanHasOneMeaning(t *testing.T) {
	plan := guard.Check(planner.Make(difftest.Tokens(time.Time{}, diff.TokensLive{}, difftest.Token("ci", difftest.RotatedZone))), guard.Facts{})
	good, err := json.MarshalIndent(savedOf(t, plan), "", " ")
	must.Do(t, err)
	for name, test := range map[string]struct {
		text, place string
	}{
		"white space behind it":   {string(good) + "\n \n", ""},
		"another plan behind it":  {string(good) + "\n" + string(good), fmt.Sprint(bytes.Count(good, []byte("\n"))+2, ":1")},
		"words behind it":         {string(good) + "x", fmt.Sprint(bytes.Count(good, []byte("\n"))+1, ":2")},
		"a key twice":             {strings.Replace(string(good), "{\n", "{\n \"platform\": \"https://other.example\",\n", 1), ""},
		"a key twice, in capital": {strings.Replace(string(good), "{\n", "{\n \"Operations\": [],\n", 1), ""},
		"a key twice in the plan": {strings.Replace(string(good), "\"plan\": {\n", "\"plan\": {\n  \"changes\": null,\n", 1), ""},
		"half of a surrogate":     {strings.Replace(string(good), "{\n", "{\n \"x\": \"\\ud800\",\n", 1), "2:7"},
	} {
		_, err := ReadSaved(strings.NewReader(test.text))
		if name == "white space behind it" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var at *PlaceError
		if !errors.As(err, &at) || !errors.Is(err, ErrNotSaved) {
			t.Errorf("%s: got %v", name, err)
		} else if got := fmt.Sprint(at.Line, ":", at.Column); test.place != "" && got != test.place || at.Line < 2 {
			t.Errorf("%s: found at %s, want %s", name, got, test.place)
		}
	}
}

func TestDifferencesOfSavedPlans(t *testing.T) {
	a, b := difftest.Token("a", difftest.RotatedZone), difftest.Token("b", difftest.RotatedZone)
	otherA := difftest.Token("a", "000000000000000000000000000000bb")
	plan := func(tokens ...desired.Token) diff.Plan {
		return guard.Check(planner.Make(difftest.Tokens(time.Time{}, diff.TokensLive{}, tokens...)), guard.Facts{})
	}
	noSink := guard.Check(planner.Make(difftest.Tokens(time.Time{}, diff.TokensLive{}, a)), guard.Facts{CheckSink: func(desired.Sink) error { return errors.New("there is no such sink") }})
	const policies = `policies unset → [{"effect":"allow","permission_groups":[{"id":"4755a26eedb94da69e1066d98aa820be"}],"resources":{"com.vendor.api.account.zone.000000000000000000000000000000aa":"*"}}]`
	otherPolicies := strings.ReplaceAll(strings.TrimPrefix(policies, "policies "), "aa\":", "bb\":")
	for name, c := range map[string]struct {
		then, now diff.Plan
		want      []string
	}{
		"the same":      {plan(a, b), plan(a, b), nil},
		"more":          {plan(a), plan(a, b), []string{`token b: create is not in the plan: name unset → "b"; ` + policies}},
		"less":          {plan(a, b), plan(b), []string{`token a: create would no longer be made: name unset → "a"; ` + policies}},
		"otherwise":     {plan(a), plan(otherA), []string{"token a: create would be different: " + policies + " in the plan, " + otherPolicies + " now"}},
		"refused now":   {plan(a), noSink, []string{"token a: create would no longer be made, there is no such sink"}},
		"refused then":  {noSink, plan(a), []string{`token a: create is not in the plan: name unset → "a"; ` + policies}},
		"nothing, then": {plan(), plan(a), []string{`token a: create is not in the plan: name unset → "a"; ` + policies}},
	} {
		if got := savedOf(t, c.then).Differences(c.now); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A change that somebody's write made another one is named with the versions.
func TestDifferenceOfVersions(t *testing.T) {
	then := planner.Make(difftest.One(difftest.Deployment(difftest.Paranoia(2)), difftest.Execute(nil)))
	now := planner.Make(difftest.One(difftest.Deployment(difftest.Paranoia(3)), difftest.Execute(nil)))
	difftest.AlterUpdate(&then.Changes[0], func(u *diff.RuleOperation) { u.Target.Version = "7" })
	difftest.AlterUpdate(&now.Changes[0], func(u *diff.RuleOperation) { u.Target.Version = "9" })
	saved := savedOf(t, then)
	if got := saved.Differences(now); len(got) != 1 || !strings.Contains(got[0], "the entry point was at version 7 and is now at 9") {
		t.Errorf("got %q", got)
	}
	same := then
	same.Changes = slices.Clone(then.Changes)
	difftest.AlterUpdate(&same.Changes[0], func(u *diff.RuleOperation) { u.Target.Version = "8" })
	if got := saved.Differences(same); len(got) != 0 {
		t.Errorf("a write that altered nothing is a difference: %q", got)
	}
}

// Two plans differ exactly when their operations are not the same set.
func TestDifferencesLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) diff.Plan {
			var tokens []desired.Token
			for i := range 4 {
				if zone := rapid.IntRange(0, 2).Draw(t, fmt.Sprint(name, i)); zone > 0 {
					tokens = append(tokens, difftest.Token(fmt.Sprint("k", i), fmt.Sprintf("%032x", zone)))
				}
			}
			return guard.Check(planner.Make(difftest.Tokens(time.Time{}, diff.TokensLive{}, tokens...)), guard.Facts{})
		}
		then, now := draw("then"), draw("now")
		saved := savedOf(t, then)
		if same := saved.Digest == digestOf(operationsOf(now)); same != (len(saved.Differences(now)) == 0) {
			t.Fatalf("same digest %v, differences %q", same, saved.Differences(now))
		}
	})
}
