package diff

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
	"github.com/seawall-dev/seawall/edge"
)

var update = flag.Bool("update", false, "rewrite golden files")

// goldenPlans are plans that between them show everything a renderer can show.
func goldenPlans(t *testing.T) map[string]Plan {
	t.Helper()
	live := func(overrides string) edge.Rule { return testExecute(parseOverrides(t, overrides)) }
	expression := deployment(paranoia(3), threshold(25, "managed_challenge"), disableRule(desired.RuleRef{Ref: "ref-0"}), remove)
	expression.Expression = declared(5, `http.host eq "a" && ip.src ne 192.0.2.1`)
	mixed := world(7,
		func(i int) desired.Deployment {
			return [...]desired.Deployment{
				deployment(), expression, deployment(threshold(25, "block")), deployment(paranoia(3)), deployment(disableTag("sqlli")), deployment(), deployment(),
			}[i]
		},
		func(i int) edge.Rule {
			return [...]edge.Rule{
				live(""),
				live(`{"action":"log","categories":[{"category":"xss","enabled":false}],"rules":[{"id":"R3","x_future":{"a":[1]}},{"id":"R9","action":"log"}]}`),
				live(""),
				live(`{"rules":[{"id":"R1","enabled":false,"sensitivity_level":"low"}]}`),
				live(""),
				{Action: edge.ActionBlock},
				live(""),
			}[i]
		})
	mixed.State.Tokens = []desired.Token{{Key: "ci-dns", Origin: at(30)}}
	unreadable := mixed.Live.EntryPoints[mixed.State.Accounts[0].Zones[0].ID]
	unreadable.Err = errors.New("GET /zones/…/entrypoint: 503 Service Unavailable")
	mixed.Live.EntryPoints[mixed.State.Accounts[0].Zones[0].ID] = unreadable

	forbidden := mixed.Live.EntryPoints[mixed.State.Accounts[0].Zones[6].ID]
	forbidden.Err = &edge.Error{Call: "GET /zones/…/entrypoint", Status: 403, Details: []edge.ErrorDetail{{Code: 10000, Message: "Authentication error"}}}
	mixed.Live.EntryPoints[mixed.State.Accounts[0].Zones[6].ID] = forbidden

	plans := map[string]Plan{
		"empty":   Guard(Make(Input{State: desired.State{}}), Facts{}),
		"in_sync": Guard(makeOne(deployment(), testExecute(nil)), Facts{}),
		"mixed":   Guard(Make(mixed), Facts{}),
		"hostile": hostilePlan(),
		"found":   foundPlan(),
	}
	for name, p := range plans {
		p.GeneratedAt = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
		p.Requests.Used = 9
		plans[name] = p
	}
	return plans
}

// hostile tries everything by which a name could act instead of being shown.
const hostile = "a\x1b[31m\x1b]8;;http://evil\x07`b``c|d\\|e\u202efed\u009b2J\u2066\x7f<img src=x>&amp; @everyone #1 [x](http://evil)\r\n\n# head\n| r |\t\u200b\ufeff end"

func hostilePlan() Plan {
	managed := testManaged()
	managed.Name = hostile
	managed.Rules[0].Categories = append(managed.Rules[0].Categories, hostile)
	managed.Rules[0].Description = ptr(hostile)
	rule := testExecute(&edge.Overrides{
		Categories: []edge.CategoryOverride{{Category: "second " + hostile, SensitivityLevel: ptr(hostile)}},
		Rules:      []edge.RuleOverride{{ID: ruleID(0), Extra: map[string]json.RawMessage{hostile: json.RawMessage(`"\u009b` + "\u009b\u202e" + `|"`)}}},
	})
	rule.Expression = hostile
	d := deployment(disableTag(hostile), disabledRule(0))
	d.Expression = &desired.Declared[string]{Value: "2" + hostile, Origin: desired.Origin{File: hostile, Line: 1, Column: 1}}
	state, live := testState(d), testLive(rule)
	state.Commit = hostile
	account := &state.Accounts[0]
	account.Key, account.Zones[0].Key = hostile, hostile
	account.Rulesets[0] = desired.RulesetRef{Key: hostile, ID: testCore}
	account.Zones[0].Deployments[0].Ruleset = hostile
	account.Zones[0].Deployments[0].Origin.File = hostile
	live.Accounts[testAccount] = AccountLive{
		Listed:  Observed[[]edge.Ruleset]{Value: []edge.Ruleset{managed}},
		Managed: map[edge.RulesetID]Observed[edge.Ruleset]{testCore: {Value: managed}},
	}
	plan := Make(Input{State: state, Live: live})
	plan.Problems = append(plan.Problems, Problem{
		Account: hostile, Zone: hostile, Deployment: hostile, State: Blocked, Reason: hostile, Hint: hostile, Origin: desired.Origin{File: hostile},
	}, Problem{Token: hostile, State: Unknown, Reason: hostile})
	token := ending(desired.Token{
		Key: hostile, Name: hostile, Origin: desired.Origin{File: hostile}, Policies: []desired.Policy{allow(0, edge.ResourceAllZones, hostile)},
	}, "2026-02-04")
	plan.Findings = Findings([]desired.Token{token}, nil)
	plan.Expiries = Expiries(TokensLive{Records: []TokenRecord{recordOf(1, token, TokenConfirmed)}}, []desired.Token{token})
	plan = dated(plan)
	return Guard(plan, Facts{})
}

func render(t testing.TB, write func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, plan := range goldenPlans(t) {
		for form, write := range map[string]func(*bytes.Buffer) error{
			"text":     func(b *bytes.Buffer) error { return plan.Text(b, false) },
			"colour":   func(b *bytes.Buffer) error { return plan.Text(b, true) },
			"markdown": func(b *bytes.Buffer) error { return plan.Markdown(b) },
			"json":     func(b *bytes.Buffer) error { return plan.JSON(b) },
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
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; see with go test ./diff -update and git diff\n%s", path, got)
	}
}

// Nothing that came from outside may reach a terminal as anything but text.
func TestTextIsPrintable(t *testing.T) {
	out := render(t, func(b *bytes.Buffer) error { return hostilePlan().Text(b, false) })
	for _, r := range out {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%U reaches the terminal", r)
		}
	}
	if !strings.Contains(out, "a [31m ]8;;http://evil `b``c|d\\|e fed 2J") {
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
	out := render(t, func(b *bytes.Buffer) error { return hostilePlan().Markdown(b) })
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
	for name, p := range map[string]Plan{
		"many changes": Make(world(2000, func(int) desired.Deployment { return deployment(paranoia(2)) }, func(int) edge.Rule { return testExecute(nil) })),
		"many fields": {Changes: []Change{{
			Fields: func() (fields []Field) {
				for i := range 3000 {
					fields = append(fields, Field{Path: ruleMember(ruleID(i), "enabled"), Old: long, New: long, Note: long, Origin: &desired.Origin{File: long}})
				}
				return fields
			}(),
			Unmanaged: make([]Leftover, 3000), Refused: &Refusal{Guard: long, Reason: long, Release: long}, Origin: desired.Origin{File: long},
		}}},
		"many leftovers": {Changes: []Change{{Unmanaged: make([]Leftover, 9000)}}},
		"many problems": {Problems: func() (problems []Problem) {
			for i := range 9000 {
				problems = append(problems, Problem{Reason: fmt.Sprint("reason ", i)})
			}
			return problems
		}()},
		"many findings": {Findings: func() (findings []Finding) {
			for i := range 9000 {
				findings = append(findings, Finding{Token: long, Kind: FindingKinds()[i%len(FindingKinds())], Text: "never expires", Hint: long, Origin: desired.Origin{File: long}})
			}
			return findings
		}(), Changes: []Change{{Unmanaged: make([]Leftover, 1700)}}},
		"long problems": {Problems: []Problem{{Reason: long, Hint: long}, {Reason: long, Hint: long}}},
	} {
		out := render(t, func(b *bytes.Buffer) error { return p.Markdown(b) })
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
	p := Plan{Problems: []Problem{{State: Unknown, Zone: "other", Reason: "503 here"}}}
	for i := range 500 {
		p.Problems = append(p.Problems, Problem{State: Unknown, Account: "prod", Zone: fmt.Sprint("z", i), Reason: "connection refused", Hint: "wait"})
	}
	text := render(t, func(b *bytes.Buffer) error { return p.Text(b, false) })
	if want := "! prod / z0, prod / z1, prod / z2 and 497 more  unknown"; !strings.Contains(text, want) || strings.Count(text, "connection refused") != 1 {
		t.Errorf("%q is not in\n%s", want, text)
	}
	markdown := render(t, func(b *bytes.Buffer) error { return p.Markdown(b) })
	if want := "- `prod / z0`, `prod / z1`, `prod / z2` and 497 more **unknown**: `connection refused`; `wait`"; !strings.Contains(markdown, want) {
		t.Errorf("%q is not in\n%s", want, markdown)
	}
}

// Changes that weaken and will be applied come first, refused ones next.
func TestMarkdownOrder(t *testing.T) {
	p := Plan{Changes: []Change{
		{Zone: "strengthens", Direction: Strengthens},
		{Zone: "refused", Direction: Weakens, Refused: &Refusal{}},
		{Zone: "neutral", Direction: Neutral},
		{Zone: "weakens", Direction: Weakens},
	}}
	out := render(t, func(b *bytes.Buffer) error { return p.Markdown(b) })
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
		d := genDeployment(t)
		if rapid.Bool().Draw(t, "mistake") {
			disableTag("nope")(&d)
		}
		in := Input{State: testState(d), Live: testLive(testExecute(genOverrides(t))), Applied: genApplied(t)}
		if rapid.Bool().Draw(t, "unreadable") {
			in.Live.EntryPoints[testZone] = Observed[edge.Ruleset]{Err: errors.New("reading: 503")}
		}
		plan := Make(in)
		facts := Facts{Before: Size{rapid.IntRange(0, 9).Draw(t, "before"), 1, 0}, After: Size{1, 1, 0}, NonConvergent: map[DeploymentID]string{}}
		if rapid.Bool().Draw(t, "written before") {
			for _, c := range plan.Changes {
				facts.NonConvergent[c.ID()] = c.Fingerprint()
			}
		}
		if err := validate(schema, Guard(plan, facts)); err != nil {
			t.Fatal(err)
		}
	})
}

// The schema is closed: a member it does not name is an error.
func TestSchemaIsClosed(t *testing.T) {
	schema := compileSchema(t)
	for _, at := range []string{`{`, `"summary": {`, `"requests": {`, `"changes": [{`, `"fields": [{`, `"request": {`, `"refused": {`, `"problems": [{`, `"origin": {`} {
		out := render(t, func(b *bytes.Buffer) error { return goldenPlans(t)["mixed"].JSON(b) })
		compact := strings.NewReplacer("[\n    {", "[{", "[\n        {", "[{").Replace(out)
		spoilt := strings.Replace(compact, at, at+`"surprise": 1,`, 1)
		if spoilt == compact {
			t.Errorf("the plan has no %s", at)
		}
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(spoilt))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(instance) == nil {
			t.Errorf("a surprise after %s is let through", at)
		}
	}
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("plan.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("plan.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(schema *jsonschema.Schema, p Plan) error {
	var b bytes.Buffer
	if err := p.JSON(&b); err != nil {
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
	live := testExecute(parseOverrides(t, `{"rules":[{"id":"R0","x_null":null}]}`))
	out := render(t, func(b *bytes.Buffer) error { return makeOne(deployment(paranoia(3), remove), live).JSON(b) })
	var plan struct {
		Changes []struct{ Fields []map[string]json.RawMessage }
	}
	if err := json.Unmarshal([]byte(out), &plan); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range plan.Changes[0].Fields {
		old, hadOld := f["old"]
		now, hasNew := f["new"]
		got[names(true).Replace(string(f["path"]))] = fmt.Sprintf("%v %s %v %s", hadOld, old, hasNew, now)
	}
	want := map[string]string{
		`"overrides.categories[\"PL4\"].enabled"`: "false  true false",
		`"overrides.rules[\"R0\"].enabled"`:       "false  true true",
		`"overrides.rules[\"R0\"].x_null"`:        "true null false ",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestSummaryString(t *testing.T) {
	for want, s := range map[string]Summary{
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
