package deprecation_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/integration/must"
)

func itoa(n int) string { return fmt.Sprint(n) }

func TestCorrectionsShow(t *testing.T) {
	published, _ := builtin(t)
	before, _ := json.Marshal(published)
	corrected, made, err := published.With([]deprecation.Addition{
		{ID: "cname-flattening-setting", Date: "2025-06-08", Where: "calendar.cue:3:1"},
		{ID: "minify-setting", Date: "2024-08-05"}, // what is so anyway
		{ID: "account-tunnels", Endpoints: []deprecation.Endpoint{{Methods: []string{"PUT"}, Path: "/accounts/:id/tunnels/:t"}}},
		{ID: "srv-data-name-fields", EndOfLife: "2025-01-01"},
		{ID: "brotli-setting", Replacement: &deprecation.Replacement{Text: "A rule of ours"}},
		{
			ID: "our-gateway", Title: "Old routes of our gateway", Date: "2027-01-01", Replacement: &deprecation.Replacement{None: true},
			Endpoints: []deprecation.Endpoint{{Methods: []string{"*"}, Path: "/gateway/v1/..."}},
		},
	})
	must.Do(t, err)
	var said []string
	for _, c := range made {
		said = append(said, c.String())
	}
	want := []string{
		"cname-flattening-setting: date 2025-03-21 → 2025-06-08",
		"account-tunnels: endpoints +1",
		"srv-data-name-fields: end_of_life not dated → 2025-01-01",
		"brotli-setting: replacement None; compression rules for enterprise override → A rule of ours",
		"our-gateway: new rule, Old routes of our gateway, 2027-01-01",
	}
	if !slices.Equal(said, want) {
		t.Errorf("corrections\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
	if made[0].Where != "calendar.cue:3:1" {
		t.Errorf("the correction's place is %q", made[0].Where)
	}
	if after, _ := json.Marshal(published); string(after) != string(before) {
		t.Error("the published calendar changed")
	}
	if corrected.Rules[0].ID != "our-gateway" || len(corrected.Rules) != 26 {
		t.Errorf("newest first: %s of %d", corrected.Rules[0].ID, len(corrected.Rules))
	}
	holdsCorrections(t, corrected)
}

func holdsCorrections(t *testing.T, c deprecation.Calendar) {
	t.Helper()
	m, err := deprecation.NewMatcher(c)
	must.Do(t, err)
	srv := send("POST", "/zones/z/dns_records", `{"type":"SRV","data":{"service":"x"}}`)
	for _, w := range []struct {
		req   deprecation.Request
		at    deprecation.Date
		rule  string
		state deprecation.State
		days  int
		code  int
	}{
		{send("GET", "/zones/z/settings/cname_flattening", ""), "2025-06-07", "cname-flattening-setting", deprecation.Announced, 1, 0},
		{send("GET", "/zones/z/settings/cname_flattening", ""), "2025-06-08", "cname-flattening-setting", deprecation.PastEnd, 0, 3},
		{send("PUT", "/accounts/a/tunnels/t", ""), "2025-01-01", "account-tunnels", deprecation.PastEnd, -332, 3},
		{srv, "2024-05-30", "srv-data-name-fields", deprecation.Announced, 1, 0},
		{srv, "2024-12-31", "srv-data-name-fields", deprecation.Deprecated, 1, 2},
		{srv, "2025-01-01", "srv-data-name-fields", deprecation.PastEnd, 0, 3},
		{send("GET", "/zones/z/settings/brotli", ""), "2025-01-01", "brotli-setting", deprecation.PastEnd, -139, 3},
		{send("GET", "/zones/z/settings/minify", ""), "2025-01-01", "minify-setting", deprecation.PastEnd, -149, 4},
		{send("LOCK", "/gateway/v1/a/b", ""), "2027-01-01", "our-gateway", deprecation.PastEnd, 0, 4},
	} {
		n := one(t, m.Match(w.req, day(t, w.at)), w.rule)
		if n == nil || n.State != w.state || n.DaysLeft != w.days || n.ExitCode() != w.code {
			t.Errorf("%s %s at %s: %+v", w.req.Method, w.req.URL, w.at, n)
		}
	}
}

// TestExtendedOfAWholeRule: where no form claims it, it is the rule's.
func TestExtendedOfAWholeRule(t *testing.T) {
	published, _ := builtin(t)
	c, _, err := published.With([]deprecation.Addition{{ID: "minify-setting", Extended: "2024-12-01"}})
	must.Do(t, err)
	m, err := deprecation.NewMatcher(c)
	must.Do(t, err)
	for at, want := range map[deprecation.Date]deprecation.State{"2024-11-30": deprecation.Announced, "2024-12-01": deprecation.PastEnd} {
		n := one(t, m.Match(send("GET", "/zones/z/settings/minify", ""), day(t, at)), "minify-setting")
		if n == nil || n.State != want || n.Extended != "2024-12-01" {
			t.Errorf("at %s: %+v", at, n)
		}
	}
}

// TestCheckTellsAllThatIsWrong at once.
func TestCheckTellsAllThatIsWrong(t *testing.T) {
	published, _ := builtin(t)
	c := deprecation.Calendar{DataAsOf: "yesterday", Rules: append(slices.Clone(published.Rules), published.Rules[0], deprecation.Rule{})}
	c.Rules[1].Moved = []deprecation.Moved{{Date: "soon"}}
	_, err := deprecation.NewMatcher(c)
	for _, want := range []string{
		`data as of: "yesterday" is not a day`, "rule firewall-rules-and-filters: the id is taken", "rule : id is missing",
		`rule previous-managed-rules: moved: "soon" is not a day`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not told: %v", want, err)
		}
	}
}

func TestCorrectionsThatAreRefused(t *testing.T) {
	published, _ := builtin(t)
	for _, c := range []struct {
		deprecation.Addition
		want string
	}{
		{deprecation.Addition{ID: "minify-settings", Date: "2025-01-01", Where: "a.cue:1:1"}, "a.cue:1:1: calendar minify-settings: title is missing; replacement is missing; what it is about is missing (no rule of the calendar has this id"},
		{deprecation.Addition{ID: "minify-setting", Date: "2025-02-30"}, `"2025-02-30" is not a day`},
		{deprecation.Addition{ID: "minify-setting", Extended: "2024-01-01"}, "extended 2024-01-01 is before the date 2024-08-05"},
		{deprecation.Addition{ID: "minify-setting", EndOfLife: "2024-01-01"}, "end_of_life 2024-01-01 is before the date 2024-08-05"},
		{deprecation.Addition{ID: "minify-setting", Endpoints: []deprecation.Endpoint{{Methods: []string{"GET"}, Path: "/:zone/x"}}}, "does not begin with a word"},
		{deprecation.Addition{ID: "minify-setting", Endpoints: []deprecation.Endpoint{{Methods: []string{"get"}, Path: "/x"}}}, "not a method in capitals"},
		{deprecation.Addition{ID: "minify-setting", Endpoints: []deprecation.Endpoint{{Path: "/x/.../y"}}}, `"..." stands at the end only`},
		{deprecation.Addition{ID: "minify-setting", Body: []deprecation.Member{{}}}, "a member needs a path"},
		{deprecation.Addition{ID: "minify-setting", Query: []deprecation.Query{{}}}, "needs on, param and to"},
	} {
		_, _, err := published.With([]deprecation.Addition{c.Addition})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.Addition, err, c.want)
		}
	}
}
