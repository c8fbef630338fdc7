package mem_test

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

// update sends a body to the execute rule of a zone.
func update(t testing.TB, p *mem.Platform, zone edge.Scope, body string) (*edge.Ruleset, error) {
	t.Helper()
	entry := entryPoint(t, p, zone)
	return p.In(zone, false).UpdateRule(t.Context(), entry.ID, entry.Rules[0].ID, []byte(body))
}

func TestUpdateIsRefused(t *testing.T) {
	const whole = `"action":"execute","expression":"true"`
	overrides := func(text string) string {
		return `{` + whole + `,"action_parameters":{"id":"c04e0000000000000000000000000001","overrides":` + text + `}}`
	}
	for name, test := range map[string]struct {
		body    string
		code    int
		pointer string
	}{
		"not JSON":                 {`{"action":`, 0, ""},
		"null":                     {`null`, 0, ""},
		"an array":                 {`[]`, 0, ""},
		"two objects":              {`{} {}`, 0, ""},
		"no expression":            {`{"action":"log"}`, edge.CodeExpressionBlank, "/expression"},
		"null expression":          {`{"action":"log","expression":null}`, edge.CodeExpressionBlank, "/expression"},
		"blank expression":         {`{"action":"log","expression":" \t"}`, edge.CodeExpressionBlank, "/expression"},
		"expression of no string":  {`{"action":"log","expression":true}`, 0, "/expression"},
		"no action":                {`{"expression":"true"}`, 0, "/action"},
		"execute without what":     {`{` + whole + `}`, edge.CodeActionParameters, "/action_parameters"},
		"execute without id":       {`{` + whole + `,"action_parameters":{"version":"latest"}}`, edge.CodeActionParameters, "/action_parameters/id"},
		"enabled in words":         {`{` + whole + `,"enabled":"yes","action_parameters":{"id":"c"}}`, 0, "/enabled"},
		"parameters in words":      {`{` + whole + `,"action_parameters":"core"}`, 0, "/action_parameters"},
		"empty overrides":          {overrides(`{}`), 0, "/action_parameters/overrides"},
		"overrides in words":       {overrides(`"none"`), 0, "/action_parameters/overrides"},
		"empty categories":         {overrides(`{"categories":[],"enabled":true}`), 0, "/action_parameters/overrides/categories"},
		"empty rules":              {overrides(`{"rules":[]}`), 0, "/action_parameters/overrides/rules"},
		"categories of no list":    {overrides(`{"categories":{}}`), 0, "/action_parameters/overrides/categories"},
		"category alone":           {overrides(`{"categories":[{"category":"xss","enabled":false},{"category":"sqli"}]}`), 0, "/action_parameters/overrides/categories/1"},
		"category and null":        {overrides(`{"categories":[{"category":"xss","enabled":null}]}`), 0, "/action_parameters/overrides/categories/0"},
		"category without name":    {overrides(`{"categories":[{"enabled":false,"action":"log"}]}`), 0, "/action_parameters/overrides/categories/0/category"},
		"rule alone":               {overrides(`{"rules":[{"id":"a"}]}`), 0, "/action_parameters/overrides/rules/0"},
		"rule without id":          {overrides(`{"rules":[{"enabled":false,"action":"log"}]}`), 0, "/action_parameters/overrides/rules/0/id"},
		"rule of no object":        {overrides(`{"rules":["a"]}`), 0, "/action_parameters/overrides/rules/0"},
		"threshold with fraction":  {overrides(`{"rules":[{"id":"a","score_threshold":40.5}]}`), 0, "/action_parameters/overrides/rules/0/score_threshold"},
		"threshold out of int":     {overrides(`{"rules":[{"id":"a","score_threshold":99999999999999999999}]}`), 0, "/action_parameters/overrides/rules/0/score_threshold"},
		"threshold in words":       {overrides(`{"rules":[{"id":"a","score_threshold":"40"}]}`), 0, "/action_parameters/overrides/rules/0/score_threshold"},
		"an array of rules":        {`[{` + whole + `}]`, 0, ""},
		"another action":           {`{"action":"block","expression":"true"}`, 0, "/action"},
		"an exception":             {`{"action":"skip","expression":"true","action_parameters":{"ruleset":"current"}}`, 0, "/action"},
		"unknown ruleset":          {`{` + whole + `,"action_parameters":{"id":"deadbeefdeadbeefdeadbeefdeadbeef"}}`, 0, "/action_parameters/id"},
		"a ruleset that is custom": {`{` + whole + `,"action_parameters":{"id":"` + string(mem.CustomRuleset) + `"}}`, 0, "/action_parameters/id"},
		"categories of no strings": {`{` + whole + `,"categories":[1],"action_parameters":{"id":"c"}}`, 0, ""},
	} {
		p := newPlatform(t)
		before := p.State()
		_, err := update(t, p, mem.ShopZone, test.body)
		var e *edge.Error
		if !errors.As(err, &e) || !errors.Is(err, edge.ErrInvalid) {
			t.Errorf("%s: %v is no refusal", name, err)
			continue
		}
		if e.Status != 400 || e.Code() != test.code || e.Details[0].Source.Pointer != test.pointer {
			t.Errorf("%s: %d, %v", name, e.Status, e)
		}
		if strings.Contains(e.Error(), "Go ") || strings.Contains(e.Error(), "interface") {
			t.Errorf("%s: the error has a type of the program: %v", name, e)
		}
		if diff := cmp.Diff(before, p.State()); diff != "" {
			t.Errorf("%s: the state changed all the same:\n%s", name, diff)
		}
	}
}

func TestRefusalTellsEveryProblem(t *testing.T) {
	_, err := update(t, newPlatform(t), mem.ShopZone, `{"enabled":1}`)
	if diff := cmp.Diff([]string{"/enabled", "/action", "/expression"}, pointers(t, err)); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateWritesVersionsAndTimes(t *testing.T) {
	at := time.Date(2025, 6, 15, 8, 30, 0, 123456000, time.FixedZone("", 7200))
	p := start(t, mem.Config{Now: func() time.Time { return at }})
	got, err := update(t, p, mem.ShopZone, `{"id":"x","version":"9","last_updated":"never","action":"execute","action_parameters":{"id":"c04e0000000000000000000000000001"},"expression":"true"}`)
	must.Do(t, err)
	const stamp = "2025-06-15T06:30:00.123456Z"
	rule := got.Rules[0]
	if got.Version != "2" || got.LastUpdated != stamp || rule.Version != "2" || rule.LastUpdated != stamp || rule.ID == "x" {
		t.Errorf("%+v", *got)
	}
	if diff := cmp.Diff(entryPoint(t, p, mem.ShopZone), *got); diff != "" {
		t.Errorf("the answer is not what is read then:\n%s", diff)
	}
}

// Every write counts, also one among many at once: none is lost, and no two
// answers carry the same version.
func TestConcurrentUpdatesAreSerialised(t *testing.T) {
	const writers, writes = 8, 25
	p := newPlatform(t)
	entry := entryPoint(t, p, mem.ShopZone)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]int{}
	for range writers {
		wg.Go(func() {
			for range writes {
				got, err := p.Send(t.Context(), edge.UpdateRule(mem.ShopZone, entry.ID, entry.Rules[0].ID, entry.Rules[0].Update()))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				seen[got.Version]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	after := entryPoint(t, p, mem.ShopZone)
	if want := strconv.Itoa(1 + writers*writes); after.Version != want || after.Rules[0].Version != want {
		t.Errorf("versions %s and %s, want %s", after.Version, after.Rules[0].Version, want)
	}
	if len(seen) != writers*writes {
		t.Errorf("%d different versions in %d answers", len(seen), writers*writes)
	}
}
