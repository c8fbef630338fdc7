package diff

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
)

func savedOf(t interface{ Fatal(...any) }, p Plan) Saved {
	saved, err := Save(p, january, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(saved)
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadSaved(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestSavedPlanIsReadBack(t *testing.T) {
	plan := Guard(tokenPlan(TokensLive{}, testToken("ci", rotatedZone)), Facts{})
	saved := savedOf(t, plan)
	if len(saved.Operations) != 1 || saved.Operations[0].About != "token ci" || saved.Operations[0].Action != ActionCreate ||
		!saved.CreatedAt.Equal(january) || !saved.ExpiresAt.Equal(january.Add(time.Hour)) {
		t.Errorf("got %+v", saved)
	}
	if lines := saved.Differences(plan); len(lines) != 0 {
		t.Errorf("differs from itself: %v", lines)
	}
}

func TestWhatIsNoSavedPlan(t *testing.T) {
	good, err := json.Marshal(savedOf(t, Guard(tokenPlan(TokensLive{}, testToken("ci", rotatedZone)), Facts{})))
	if err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	if err := tokenPlan(TokensLive{}).JSON(&shown); err != nil {
		t.Fatal(err)
	}
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

func TestDifferencesOfSavedPlans(t *testing.T) {
	a, b := testToken("a", rotatedZone), testToken("b", rotatedZone)
	otherA := testToken("a", "000000000000000000000000000000bb")
	plan := func(tokens ...desired.Token) Plan { return Guard(tokenPlan(TokensLive{}, tokens...), Facts{}) }
	noSink := Guard(tokenPlan(TokensLive{}, a), Facts{CheckSink: func(desired.Sink) error { return errors.New("there is no such sink") }})
	const policies = `policies unset → [{"effect":"allow","permission_groups":[{"id":"4755a26eedb94da69e1066d98aa820be"}],"resources":{"com.vendor.api.account.zone.000000000000000000000000000000aa":"*"}}]`
	otherPolicies := strings.ReplaceAll(strings.TrimPrefix(policies, "policies "), "aa\":", "bb\":")
	for name, c := range map[string]struct {
		then, now Plan
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
	then := makeOne(deployment(paranoia(2)), testExecute(nil))
	now := makeOne(deployment(paranoia(3)), testExecute(nil))
	then.Changes[0].Target.Version, now.Changes[0].Target.Version = "7", "9"
	saved := savedOf(t, then)
	if got := saved.Differences(now); len(got) != 1 || !strings.Contains(got[0], "the entry point was at version 7 and is now at 9") {
		t.Errorf("got %q", got)
	}
	same := then
	same.Changes = slices.Clone(then.Changes)
	same.Changes[0].Target.Version = "8"
	if got := saved.Differences(same); len(got) != 0 {
		t.Errorf("a write that altered nothing is a difference: %q", got)
	}
}

// Two plans differ exactly when their operations are not the same set.
func TestDifferencesLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Plan {
			var tokens []desired.Token
			for i := range 4 {
				if zone := rapid.IntRange(0, 2).Draw(t, fmt.Sprint(name, i)); zone > 0 {
					tokens = append(tokens, testToken(fmt.Sprint("k", i), fmt.Sprintf("%032x", zone)))
				}
			}
			return Guard(tokenPlan(TokensLive{}, tokens...), Facts{})
		}
		then, now := draw("then"), draw("now")
		saved := savedOf(t, then)
		if same := saved.Digest == digestOf(now.operations()); same != (len(saved.Differences(now)) == 0) {
			t.Fatalf("same digest %v, differences %q", same, saved.Differences(now))
		}
	})
}
