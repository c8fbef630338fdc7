package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/diff/token"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

var update = flag.Bool("update", false, "rewrite golden files")

// goldenPlans are plans that between them show everything a renderer can show.
func goldenPlans(t *testing.T) map[string]diff.Plan {
	t.Helper()
	live := func(overrides string) edge.Rule { return difftest.Execute(difftest.ParseOverrides(t, overrides)) }
	expression := difftest.Deployment(difftest.Paranoia(3), difftest.Threshold(25, "managed_challenge"), difftest.DisableRule(desired.RuleRef{Ref: "ref-0"}), difftest.Remove)
	expression.Expression = difftest.Declared(5, `http.host eq "a" && ip.src ne 192.0.2.1`)
	mixed := difftest.Zones(7,
		func(i int) desired.Deployment {
			return [...]desired.Deployment{
				difftest.Deployment(), expression, difftest.Deployment(difftest.Threshold(25, "block"), difftest.Keep), difftest.Deployment(difftest.Paranoia(3)), difftest.Deployment(difftest.DisableTag("sqlli")), difftest.Deployment(), difftest.Deployment(),
			}[i]
		},
		func(i int) edge.Rule {
			return [...]edge.Rule{
				live(""),
				live(`{"action":"log","categories":[{"category":"xss","enabled":false}],"rules":[{"id":"R3","x_future":{"a":[1]}},{"id":"R9","action":"log"}]}`),
				live(`{"categories":[{"category":"sqli","action":"log"}],"rules":[{"id":"R1","action":"log"}]}`),
				live(`{"rules":[{"id":"R1","enabled":false,"sensitivity_level":"low"}]}`),
				live(""),
				{Action: edge.ActionBlock},
				live(""),
			}[i]
		})
	mixed.State.Tokens = []desired.Token{{Key: "ci-dns", Origin: difftest.At(30)}}
	unreadable := mixed.Live.EntryPoints[mixed.State.Accounts[0].Zones[0].Scope.At(edge.PhaseFirewallManaged)]
	unreadable.Err = errors.New("GET /zones/…/entrypoint: 503 Service Unavailable")
	mixed.Live.EntryPoints[mixed.State.Accounts[0].Zones[0].Scope.At(edge.PhaseFirewallManaged)] = unreadable

	forbidden := mixed.Live.EntryPoints[mixed.State.Accounts[0].Zones[6].Scope.At(edge.PhaseFirewallManaged)]
	forbidden.Err = &edge.Error{Call: "GET /zones/…/entrypoint", Status: 403, Details: []edge.ErrorDetail{{Code: 10000, Message: "Authentication error"}}}
	mixed.Live.EntryPoints[mixed.State.Accounts[0].Zones[6].Scope.At(edge.PhaseFirewallManaged)] = forbidden

	plans := map[string]diff.Plan{
		"empty":   guard.Check(planner.Make(planner.Input{State: desired.State{}}), guard.Facts{}),
		"in_sync": guard.Check(planner.Make(difftest.One(difftest.Deployment(), difftest.Execute(nil))), guard.Facts{}),
		"mixed":   guard.Check(planner.Make(mixed.Input()), guard.Facts{}),
		"hostile": hostilePlan(),
		"found":   foundPlan(),
		"deploy":  deployPlan(),
		"bypass":  bypassPlan(),
	}
	for name, p := range plans {
		p.GeneratedAt = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
		p.Requests.Used = 9
		plans[name] = p
	}
	return plans
}

// deployPlan deploys in one zone, removes in another, and has asked the platform.
func deployPlan() diff.Plan {
	d := difftest.Deployment(difftest.DisableTag("sqli"))
	d.Deploy = true
	state, live := difftest.State(d), difftest.Live()
	live.EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)] = diff.Observed[edge.Ruleset]{Err: edge.ErrEntryPointNotFound}
	other := edge.ZoneScope("000000000000000000000000000000a2")
	state.Accounts[0].Zones = append(state.Accounts[0].Zones, desired.Zone{Key: "blog.example", Scope: other, Origin: difftest.At(9)})
	live.EntryPoints[other.At(edge.PhaseFirewallManaged)] = difftest.Live(difftest.Execute(nil)).EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)]
	id := diff.ID{Scope: other, Ruleset: difftest.Core}
	plan := planner.Make(planner.Input{State: state, Live: live, Prunable: diff.Pruning{
		id: {Account: "prod", Zone: "blog.example", Deployment: "core", Rule: difftest.Rule},
	}})
	plan.DryRun = &diff.DryRun{Tried: 1, NotTried: []string{"prod / blog.example / `core`"}, Reason: "403 Forbidden"}
	plan.Changes[1].Refused = &diff.Refusal{Guard: diff.GuardDryRun, Reason: "the platform would not accept it: 400 Bad Request", Release: "another declaration"}
	return plan.WithChanges(plan.Changes)
}

// hostile tries everything by which a name could act instead of being shown.
const hostile = "a\x1b[31m\x1b]8;;http://evil\x07`b``c|d\\|e\u202efed\u009b2J\u2066\x7f<img src=x>&amp; @everyone #1 [x](http://evil)\r\n\n# head\n| r |\t\u200b\ufeff end"

func hostilePlan() diff.Plan {
	managed := difftest.Managed()
	managed.Name = hostile
	managed.Rules[0].Categories = append(managed.Rules[0].Categories, hostile)
	managed.Rules[0].Description = new(hostile)
	rule := difftest.Execute(&edge.Overrides{
		Categories: []edge.CategoryOverride{{Category: "second " + hostile, SensitivityLevel: new(hostile)}},
		Rules:      []edge.RuleOverride{{ID: difftest.RuleID(0), Extra: map[string]json.RawMessage{hostile: json.RawMessage(`"\u009b` + "\u009b\u202e" + `|"`)}}},
	})
	rule.Expression = hostile
	d := difftest.Deployment(difftest.DisableTag(hostile), difftest.DisabledRule(0))
	d.Expression = &desired.Declared[string]{Value: "2" + hostile, Origin: desired.Origin{File: hostile, Line: 1, Column: 1}}
	state, live := difftest.State(d), difftest.Live(rule)
	state.Commit = hostile
	account := &state.Accounts[0]
	account.Key, account.Zones[0].Key = hostile, hostile
	account.Rulesets[0] = desired.RulesetRef{Key: hostile, ID: difftest.Core}
	account.Zones[0].Deployments[0].Ruleset = hostile
	account.Zones[0].Deployments[0].Origin.File = hostile
	live.Accounts[difftest.Account] = diff.AccountLive{
		Listed:  diff.Observed[[]edge.Ruleset]{Value: []edge.Ruleset{managed}},
		Managed: map[edge.RulesetID]diff.Observed[edge.Ruleset]{difftest.Core: {Value: managed}},
	}
	plan := planner.Make(planner.Input{State: state, Live: live})
	plan.Problems = append(plan.Problems, diff.Problem{
		Account: hostile, Zone: hostile, Deployment: hostile, State: diff.Blocked, Reason: hostile, Hint: hostile, Origin: desired.Origin{File: hostile},
	}, diff.Problem{Scope: edge.CredentialScope(""), Token: hostile, State: diff.Unknown, Reason: hostile})
	ends := difftest.Ending(desired.Token{
		Key: hostile, Name: hostile, Origin: desired.Origin{File: hostile}, Policies: []desired.Policy{difftest.Allow(0, edge.ResourceAllZones, hostile)},
	}, "2026-02-04")
	plan.Bypasses = []diff.Bypass{hostileBypass(hostile)}
	plan.NotLookedAt = []diff.NotLookedAt{{Account: hostile, Level: edge.LevelZone, Phase: edge.Phase(hostile), Zones: 1, Reason: hostile}}
	plan.Findings = token.Findings([]desired.Token{ends}, nil)
	plan.Expiries = token.Expiries(diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, ends, diff.TokenConfirmed)}}, []desired.Token{ends})
	plan = dated(plan)
	return guard.Check(plan, guard.Facts{})
}

func render(t testing.TB, write func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, write(&b))
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, plan := range goldenPlans(t) {
		for form, write := range map[string]func(*bytes.Buffer) error{
			"text":     func(b *bytes.Buffer) error { return Text(b, plan, false) },
			"colour":   func(b *bytes.Buffer) error { return Text(b, plan, true) },
			"markdown": func(b *bytes.Buffer) error { return Markdown(b, plan) },
			"json":     func(b *bytes.Buffer) error { return JSON(b, plan) },
		} {
			t.Run(name+"/"+form, func(t *testing.T) {
				golden(t, name+"."+form+".golden", render(t, write))
			})
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must.Do(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	must.Do(t, err)
	if got != string(want) {
		t.Errorf("%s differs; see with go test ./diff -update and git diff\n%s", path, got)
	}
}

// Nothing that came from outside may reach a terminal as anything but text.
func TestTextIsPrintable(t *testing.T) {
	out := render(t, func(b *bytes.Buffer) error { return Text(b, hostilePlan(), false) })
	for _, r := range out {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%U reaches the terminal", r)
		}
	}
	if !strings.Contains(out, "a\\u{1b}[31m\\u{1b}]8;;http://evil\\u{7}`b``c|d\\u{5c}|e\\u{202e}fed\\u{9b}2J") {
		t.Error("what can be shown is not shown")
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "# head") || strings.HasPrefix(line, "| r |") {
			t.Errorf("a name began a line: %q", line)
		}
	}
}

// In Markdown, everything from outside stands in code spans that it cannot
// leave, on one line, and ends no cell of a table.
func TestMarkdownIsInert(t *testing.T) {
	out := render(t, func(b *bytes.Buffer) error { return Markdown(b, hostilePlan()) })
	for line := range strings.Lines(out) {
		outside := outsideCode(t, line)
		for _, sign := range []string{"evil", "@", "<img", "&amp;", "# head", "](", "\x1b", "everyone"} {
			if strings.Contains(outside, sign) {
				t.Errorf("%q stands outside of code in %q", sign, line)
			}
		}
		if strings.HasPrefix(line, "|") {
			if cells := barsEndingCells(line); cells != 6 {
				t.Errorf("%d bars in %q", cells, line)
			}
			if strings.Contains(line, `\\|`) {
				t.Errorf("a backslash stands before an escaped bar in %q", line)
			}
		}
		for _, r := range line {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("%U in %q", r, line)
			}
		}
	}
}

// outsideCode returns what of a line does not stand in code spans, by the rule
// of CommonMark: a span ends at a run of as many backticks as began it.
func outsideCode(t *testing.T, line string) string {
	var outside strings.Builder
	for line != "" {
		start := strings.IndexByte(line, '`')
		if start < 0 {
			outside.WriteString(line)
			break
		}
		outside.WriteString(line[:start])
		line = line[start:]
		n := len(line) - len(strings.TrimLeft(line, "`"))
		rest, closed := line[n:], false
		for rest != "" && !closed {
			i := strings.IndexByte(rest, '`')
			if i < 0 {
				break
			}
			rest = rest[i:]
			run := len(rest) - len(strings.TrimLeft(rest, "`"))
			rest, closed = rest[run:], run == n
		}
		if !closed {
			t.Errorf("a code span is not closed: %q", line)
			return outside.String() + line
		}
		line = rest
	}
	return outside.String()
}

func barsEndingCells(line string) int {
	return strings.Count(line, "|") - strings.Count(line, `\|`)
}

// A pull-request comment is never longer than the forges accept, however much
// there is to tell, and says that it was cut.
func TestMarkdownIsBounded(t *testing.T) {
	long := strings.Repeat("|`ä", 5000)
	for name, p := range map[string]diff.Plan{
		"many changes": planner.Make(difftest.Zones(2000, func(int) desired.Deployment { return difftest.Deployment(difftest.Paranoia(2)) }, func(int) edge.Rule { return difftest.Execute(nil) }).Input()),
		"many fields": {Changes: []diff.Change{{
			Fields: func() (fields []diff.Field) {
				for i := range 3000 {
					fields = append(fields, diff.Field{Path: diff.Member(fmt.Sprintf("overrides.rules[%q].enabled", difftest.RuleID(i))), Old: long, New: long, Note: long, Origin: &desired.Origin{File: long}})
				}
				return fields
			}(),
			Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Refused: &diff.Refusal{Guard: diff.Guard(long), Reason: long, Release: long}, Origin: desired.Origin{File: long},
		}}},
		"many leftovers": {Problems: []diff.Problem{{Unmanaged: make([]diff.Leftover, 9000)}}},
		"much is kept": {Kept: func() (kept []diff.Kept) {
			for i := range 9000 {
				kept = append(kept, diff.Kept{Zone: long, Members: []diff.Leftover{{Path: "x", Value: i}}})
			}
			return kept
		}()},
		"many problems": {Problems: func() (problems []diff.Problem) {
			for i := range 9000 {
				problems = append(problems, diff.Problem{Reason: fmt.Sprint("reason ", i)})
			}
			return problems
		}()},
		"many findings": {Findings: func() (findings []diff.Finding) {
			for i := range 9000 {
				findings = append(findings, diff.Finding{Token: long, Kind: diff.FindingKinds()[i%len(diff.FindingKinds())], Text: "never expires", Hint: long, Origin: desired.Origin{File: long}})
			}
			return findings
		}()},
		"long problems": {Problems: []diff.Problem{{Reason: long, Hint: long}, {Reason: long, Hint: long}}},
	} {
		out := render(t, func(b *bytes.Buffer) error { return Markdown(b, p) })
		if n := len([]rune(out)); n > 65_000 {
			t.Errorf("%s: %d characters", name, n)
		}
		if !strings.Contains(out, "…") {
			t.Errorf("%s: nothing says that it was cut", name)
		}
	}
}

// A platform that is down is told once, not once for each zone.
func TestProblemsAlikeAreToldOnce(t *testing.T) {
	p := diff.Plan{Problems: []diff.Problem{{State: diff.Unknown, Zone: "other", Reason: "503 here"}}}
	for i := range 500 {
		p.Problems = append(p.Problems, diff.Problem{State: diff.Unknown, Account: "prod", Zone: fmt.Sprint("z", i), Reason: "connection refused", Hint: "wait"})
	}
	text := render(t, func(b *bytes.Buffer) error { return Text(b, p, false) })
	if want := "! prod / z0, prod / z1, prod / z2 and 497 more  unknown"; !strings.Contains(text, want) || strings.Count(text, "connection refused") != 1 {
		t.Errorf("%q is not in\n%s", want, text)
	}
	markdown := render(t, func(b *bytes.Buffer) error { return Markdown(b, p) })
	if want := "- `prod / z0`, `prod / z1`, `prod / z2` and 497 more **unknown**: `connection refused`; `wait`"; !strings.Contains(markdown, want) {
		t.Errorf("%q is not in\n%s", want, markdown)
	}
}

// Changes that weaken and will be applied come first, refused ones next.
func TestMarkdownOrder(t *testing.T) {
	p := diff.Plan{Changes: []diff.Change{
		{Zone: "strengthens", Direction: diff.Strengthens},
		{Zone: "refused", Direction: diff.Weakens, Refused: &diff.Refusal{}},
		{Zone: "neutral", Direction: diff.Neutral},
		{Zone: "weakens", Direction: diff.Weakens},
	}}
	out := render(t, func(b *bytes.Buffer) error { return Markdown(b, p) })
	last := -1
	for _, zone := range []string{"weakens", "refused", "strengthens", "neutral"} {
		i := strings.Index(out, "#### `"+zone+"`")
		if i < last {
			t.Errorf("%s comes too early", zone)
		}
		last = i
	}
}

// What scripts are promised holds for every plan.
func TestJSONFollowsTheSchema(t *testing.T) {
	schema := compileSchema(t)
	for name, plan := range goldenPlans(t) {
		if err := validate(schema, plan); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := difftest.GenDeployment(t)
		if rapid.Bool().Draw(t, "mistake") {
			difftest.DisableTag("nope")(&d)
		}
		in := planner.Input{State: difftest.State(d), Live: difftest.Live(difftest.Execute(difftest.GenOverrides(t)))}
		if rapid.Bool().Draw(t, "applied before") {
			in.Applied = diff.Applied{{Scope: difftest.Zone, Ruleset: difftest.Core}: {`overrides.categories["sqli"].enabled`, `overrides.rules["gone"]`}}
		}
		if rapid.Bool().Draw(t, "unreadable") {
			in.Live.EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)] = diff.Observed[edge.Ruleset]{Err: errors.New("reading: 503")}
		}
		plan := planner.Make(in)
		facts := guard.Facts{Before: guard.Size{Zones: rapid.IntRange(0, 9).Draw(t, "before"), Deployments: 1}, After: guard.Size{Zones: 1, Deployments: 1}, NonConvergent: map[diff.ID]string{}}
		if rapid.Bool().Draw(t, "written before") {
			for _, c := range plan.Changes {
				facts.NonConvergent[c.ID()] = c.Fingerprint()
			}
		}
		must.Do(t, validate(schema, guard.Check(plan, facts)))
	})
}

// The schema is closed: a member it does not name is an error.
func TestSchemaIsClosed(t *testing.T) {
	schema := compileSchema(t)
	for _, at := range []string{`{`, `"summary": {`, `"requests": {`, `"changes": [{`, `"fields": [{`, `"request": {`, `"refused": {`, `"problems": [{`, `"origin": {`} {
		out := render(t, func(b *bytes.Buffer) error { return JSON(b, goldenPlans(t)["mixed"]) })
		compact := strings.NewReplacer("[\n    {", "[{", "[\n        {", "[{").Replace(out)
		spoilt := strings.Replace(compact, at, at+`"surprise": 1,`, 1)
		if spoilt == compact {
			t.Errorf("the plan has no %s", at)
		}
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(spoilt))
		must.Do(t, err)
		if schema.Validate(instance) == nil {
			t.Errorf("a surprise after %s is let through", at)
		}
	}
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	must.Do(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	must.Do(t, compiler.AddResource("plan.json", document))
	schema, err := compiler.Compile("plan.json")
	must.Do(t, err)
	return schema
}

func validate(schema *jsonschema.Schema, p diff.Plan) error {
	var b bytes.Buffer
	if err := JSON(&b, p); err != nil {
		return err
	}
	instance, err := jsonschema.UnmarshalJSON(&b)
	if err != nil {
		return err
	}
	if err := schema.Validate(instance); err != nil {
		return fmt.Errorf("%w\n%+v", err, p)
	}
	return nil
}

// A member that is not there is missing from JSON; one that is false or null is
// not.
func TestJSONTellsAbsentFromFalse(t *testing.T) {
	live := difftest.Execute(difftest.ParseOverrides(t, `{"rules":[{"id":"R0","x_null":null}]}`))
	out := render(t, func(b *bytes.Buffer) error {
		return JSON(b, planner.Make(difftest.One(difftest.Deployment(difftest.Paranoia(3), difftest.Remove), live)))
	})
	var plan struct {
		Changes []struct{ Fields []map[string]json.RawMessage }
	}
	must.Do(t, json.Unmarshal([]byte(out), &plan))
	got := map[string]string{}
	for _, f := range plan.Changes[0].Fields {
		old, hadOld := f["old"]
		now, hasNew := f["new"]
		got[difftest.Names(true).Replace(string(f["path"]))] = fmt.Sprintf("%v %s %v %s", hadOld, old, hasNew, now)
	}
	want := map[string]string{
		`"overrides.categories[\"PL4\"].enabled"`: "false  true false",
		`"overrides.rules[\"R0\"].x_null"`:        "true null false ",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestSummaryString(t *testing.T) {
	for want, s := range map[string]diff.Summary{
		"0 zones": {},
		"1 zone":  {Zones: 1},
		"3 zones: 1 in sync, 2 to change, 1 of them weakening": {Zones: 3, InSync: 1, Changed: 2, Weakening: 1},
		"5 zones: 1 refused, 1 blocked, 1 not deployed, 1 unknown, 1 forbidden": {
			Zones: 5, Refused: 1, Blocked: 1, NotDeployed: 1, Unknown: 1, Forbidden: 1,
		},
	} {
		if got := s.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Every action on a token has the published shape.
func TestTokenActionsFitTheSchema(t *testing.T) {
	schema := compileSchema(t)
	a, b := difftest.Token("ci-dns", difftest.RotatedZone), difftest.Token("ci-dns", "000000000000000000000000000000bb")
	old := difftest.RecordOf(1, a, diff.TokenConfirmed)
	old.Prune, old.At = true, difftest.January
	rotating := difftest.Rotating(a, time.Hour, time.Minute)
	for action, c := range map[diff.Action]struct {
		live  diff.TokensLive
		token []desired.Token
	}{
		diff.ActionCreate:  {diff.TokensLive{}, []desired.Token{a}},
		diff.ActionReplace: {diff.TokensLive{Records: []diff.TokenRecord{old}}, []desired.Token{b}},
		diff.ActionRotate:  {diff.TokensLive{Records: []diff.TokenRecord{difftest.Generation(1, rotating, difftest.January)}}, []desired.Token{rotating}},
		diff.ActionUpdate:  {difftest.ListedAs([]diff.TokenRecord{old}, difftest.LiveToken(old)), []desired.Token{b}},
		diff.ActionDelete:  {difftest.ListedAs([]diff.TokenRecord{old}, difftest.LiveToken(old)), nil},
		diff.ActionOrphan:  {diff.TokensLive{Records: []diff.TokenRecord{old}}, nil},
	} {
		plan := guard.Check(planner.Make(difftest.Tokens(difftest.January.Add(2*time.Hour), c.live, c.token...)), guard.Facts{})
		if len(plan.Changes) != 1 || plan.Changes[0].Action() != action {
			t.Errorf("plans %+v, want %s", plan.Changes, action)
		}
		if err := validate(schema, plan); err != nil {
			t.Errorf("%s: %v", action, err)
		}
	}
}
