package render

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge/deprecation"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// foundPlan has every kind of finding, one of them for many tokens, and tokens
// that end soon. goldenPlans renders it at 2026-02-03.
func foundPlan() diff.Plan {
	var tokens []desired.Token
	var records []diff.TokenRecord
	record := func(t desired.Token) {
		tokens = append(tokens, t)
		records = append(records, difftest.RecordOf(len(records), t, diff.TokenConfirmed))
	}
	for i := range 7 {
		t := difftest.Token(fmt.Sprint("ci-", i), fmt.Sprintf("%032x", i))
		t.Origin = difftest.At(40 + i)
		record(t)
	}
	wide := difftest.Token("wide", "00000000000000000000000000000001")
	wide.Origin, wide.Policies = difftest.At(60), []desired.Policy{difftest.Allow(62, edge.ResourceAllZones, "DNS Write"), difftest.Allow(64, edge.ResourceUser+"me", difftest.CreatingGroup)}
	record(wide)
	for i, day := range []string{"2026-02-01", "2026-02-04", "2026-02-15", "2026-03-05", "2026-03-06"} {
		record(difftest.Ending(difftest.Token(fmt.Sprint("ends-", i), "0000000000000000000000000000000e"), day))
	}
	replaced := difftest.Ending(difftest.Token("replaced", "0000000000000000000000000000000f"), "2026-02-05")
	record(replaced)
	tokens[len(tokens)-1].ExpiresOn = "2027-02-05T00:00:00Z"
	return guard.Check(planner.Make(planner.Input{
		State: desired.State{Commit: "c0ffee", Tokens: tokens}, Live: diff.Live{Tokens: diff.TokensLive{Records: records}},
	}), guard.Facts{})
}

func dated(p diff.Plan) diff.Plan {
	p.GeneratedAt = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	return p
}

// One finding is told once, with as many tokens as a person reads.
func TestFindingsAlikeAreToldOnce(t *testing.T) {
	p := dated(foundPlan())
	text := render(t, func(b *bytes.Buffer) error { return Text(b, p, false) })
	for what, want := range map[string]int{
		"! token ci-0 never expires  zones/shop.cue:40:2\n":                                                         1,
		"! token ci-4 never expires  zones/shop.cue:44:2\n  and 3 more tokens\n    hint: set expires_on, or rotate": 1,
		"never expires": 5,
		"! token wide may create tokens, and has other permissions too  zones/shop.cue:64:2\n": 1,
		"! token wide covers all accounts, also future ones  zones/shop.cue:62:2\n":            1,
	} {
		if got := strings.Count(text, what); got != want {
			t.Errorf("%d times %q, want %d, in\n%s", got, what, want, text)
		}
	}
	markdown := render(t, func(b *bytes.Buffer) error { return Markdown(b, p) })
	if want := "`token ci-4` never expires `zones/shop.cue:44:2` and 3 more; `set expires_on, or rotate"; strings.Count(markdown, want) != 1 {
		t.Errorf("%q is not in\n%s", want, markdown)
	}
}

// Ends are told by whoever knows the time, from thirty days before, and not of a
// token that this very plan replaces.
func TestPlansTellOfTokensThatEndSoon(t *testing.T) {
	p := dated(foundPlan())
	lines := []string{
		"! token ends-0 expired 2 days ago  2026-02-01T00:00:00Z\n",
		"! token ends-1 expires in 19 hours  2026-02-04T00:00:00Z\n",
		"! token ends-2 expires in 11 days  2026-02-15T00:00:00Z\n",
		"! token ends-3 expires in 29 days  2026-03-05T00:00:00Z\n    hint: set a later expires_on",
	}
	text := render(t, func(b *bytes.Buffer) error { return Text(b, p, false) })
	if want := strings.Join(lines, ""); !strings.Contains(text, want) || strings.Contains(text, "ends-4") || strings.Contains(text, "replaced expire") {
		t.Errorf("%s is not in\n%s", want, text)
	}
	if markdown := render(t, func(b *bytes.Buffer) error { return Markdown(b, p) }); !strings.Contains(markdown, "`token ends-2` expires in 11 days `2026-02-15T00:00:00Z`") {
		t.Error(markdown)
	}
	p.Changes = slices.Clone(p.Changes)
	p.Changes[0].Refused = &diff.Refusal{Guard: diff.GuardSink}
	p.Changes = append(p.Changes, diff.Change{Operation: diff.Deletion{}, Scope: edge.CredentialScope(""), Token: "ends-2"})
	if text := render(t, func(b *bytes.Buffer) error { return Text(b, p, false) }); !strings.Contains(text, "! token replaced expires in 43 hours") || !strings.Contains(text, lines[2]) {
		t.Errorf("a token whose successor is refused, or whose predecessor is deleted, ends without a word:\n%s", text)
	}
	p.GeneratedAt = time.Time{}
	if text := render(t, func(b *bytes.Buffer) error { return Text(b, p, false) }); strings.Contains(text, "expire in") || strings.Contains(text, "expired") {
		t.Errorf("a plan without a time tells one:\n%s", text)
	}
}

// The schema is closed about findings and ends too.
func TestSchemaOfFindingsIsClosed(t *testing.T) {
	schema := compileSchema(t)
	out := render(t, func(b *bytes.Buffer) error { return JSON(b, dated(foundPlan())) })
	for _, at := range []string{`"token": "ci-0",`, `"token": "ends-0",`} {
		for _, list := range []string{`"findings": [`, `"expiries": [`} {
			before, rest, _ := strings.Cut(out, list)
			if !strings.Contains(rest, at) {
				continue
			}
			instance, err := jsonschema.UnmarshalJSON(strings.NewReader(before + list + strings.Replace(rest, at, `"surprise": 1,`+at, 1)))
			must.Do(t, err)
			if schema.Validate(instance) == nil {
				t.Errorf("a surprise before %s in %s is let through", at, list)
			}
		}
	}
}

// The schema names every kind of finding, and no other.
func TestSchemaKnowsTheKindsOfFindings(t *testing.T) {
	schema := compileSchema(t)
	for _, kind := range diff.FindingKinds() {
		if err := validate(schema, diff.Plan{Version: diff.PlanVersion, Digest: "sha256:" + strings.Repeat("0", 64), Changes: []diff.Change{}, Problems: []diff.Problem{}, Deprecations: []deprecation.Notice{}, Findings: []diff.Finding{{Kind: kind}}}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if !strings.Contains(string(Schema), `"`+string(kind)+`"`) {
			t.Errorf("the schema does not name %s", kind)
		}
	}
	if validate(schema, diff.Plan{Version: diff.PlanVersion, Digest: "sha256:" + strings.Repeat("0", 64), Changes: []diff.Change{}, Problems: []diff.Problem{}, Deprecations: []deprecation.Notice{}, Findings: []diff.Finding{{Kind: "other"}}}) == nil {
		t.Error("another kind is let through")
	}
}
