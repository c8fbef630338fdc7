package vendorsdk

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cloudflare/cloudflare-go/v6/rulesets"
)

// seawall runs the program with the credential for rulesets, and returns what it printed and its
// exit code.
func (s simulator) seawall(t *testing.T, arguments ...string) (string, int) {
	t.Helper()
	arguments = append(arguments, "--profile", "extended", "--base-url", strings.TrimSuffix(s.base, "/"))
	cmd := exec.Command(os.Getenv("SEAWALL"), arguments...)
	cmd.Env = append(os.Environ(), "SEAWALL_RULESETS_TOKEN="+s.tokens["rulesets"], "HOME="+t.TempDir(), "SEAWALL_CONFIG=")
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if cmd.ProcessState.ExitCode() == 1 {
		t.Fatalf("seawall %s: %s%s", strings.Join(arguments, " "), &stdout, &stderr)
	}
	return stdout.String(), cmd.ProcessState.ExitCode()
}

// agrees holds a plan to be empty.
func (s simulator) agrees(t *testing.T, dir string) {
	t.Helper()
	if out, code := s.seawall(t, "plan", "--dir", dir, "--detailed-exitcode"); code != 0 {
		t.Errorf("the plan is not empty: %d\n%s", code, out)
	}
}

// ruleOf is a rule of an entry point, as the SDK reads it, by its ref.
func ruleOf(w *world, phase rulesets.Phase, ref string) (rulesetID string, r rulesets.PhaseGetResponseRule, raw map[string]any) {
	w.Helper()
	got := must[*rulesets.PhaseGetResponse](w.T)(w.sdk.Phases.Get(w.Context(), phase, in(inShop, rulesets.PhaseGetParams{})))
	i := slices.IndexFunc(got.Rules, func(r rulesets.PhaseGetResponseRule) bool { return r.Ref == ref })
	if i < 0 {
		w.Fatalf("there is no rule %s in %s", ref, phase)
	}
	if err := json.Unmarshal([]byte(got.Rules[i].JSON.RawJSON()), &raw); err != nil {
		w.Fatal(err)
	}
	return got.ID, got.Rules[i], raw
}

// edit changes a rule by the SDK: all members of it are given.
func edit(w *world, phase rulesets.Phase, ref, members string) {
	w.Helper()
	id, live, _ := ruleOf(w, phase, ref)
	body := rule[rulesets.RuleEditParamsBody](w, members)
	must[*rulesets.RuleEditResponse](w.T)(w.sdk.Rules.Edit(w.Context(), id, live.ID, in(inShop, rulesets.RuleEditParams{Body: body})))
}

func begin(t *testing.T) *world {
	s := start(t)
	return &world{t, s, rulesets.NewRulesetService(s.as("administrator")...), map[string]string{}}
}

// plannedChange is a change of a plan, in its JSON form.
type plannedChange struct {
	Kind, Deployment, Action string
	Fields                   []struct {
		Path     string
		Old, New any
	}
}

// changes are those of a plan.
func (s simulator) changes(t *testing.T, dir string) []plannedChange {
	t.Helper()
	out, _ := s.seawall(t, "plan", "--dir", dir, "-o", "json")
	var plan struct {
		Changes  []plannedChange
		Problems []any
	}
	if err := json.Unmarshal([]byte(out), &plan); err != nil || len(plan.Problems) > 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	return plan.Changes
}

// What the SDK writes, Seawall imports; a plan is empty then. What the SDK changes in one rule is
// all that a plan shows.
func TestSeawallReadsWhatTheSDKWrites(t *testing.T) {
	w := begin(t)
	for phase, rules := range map[rulesets.Phase][]string{
		custom: {
			`{"ref":"office","action":"skip","expression":"ip.src in {192.0.2.0/24}","action_parameters":{"ruleset":"current","products":["bic","waf"]},"description":"ours"}`,
			`{"ref":"admin","action":"block","expression":"starts_with(http.request.uri.path, \"/admin\")","action_parameters":{"response":{"status_code":404,"content_type":"text/plain","content":"no"}}}`,
			`{"ref":"robots","action":"managed_challenge","expression":"http.user_agent contains \"bot\"","enabled":false}`,
		},
		limited: {
			`{"ref":"login","action":"block","expression":"http.request.uri.path eq \"/login\"","ratelimit":{"characteristics":["ip.src","cf.colo.id"],"period":60,"requests_per_period":5,"mitigation_timeout":600}}`,
			`{"ref":"failed","action":"log","expression":"http.request.uri.path eq \"/login\"","ratelimit":{"characteristics":["cf.colo.id","cf.unique_visitor_id"],"period":300,"requests_per_period":50,"counting_expression":"http.response.code eq 403","requests_to_origin":true}}`,
		},
	} {
		must[*rulesets.RulesetNewResponse](t)(w.sdk.New(t.Context(), entryPoint(w, inShop, phase, rules...)))
	}
	live := must[*rulesets.PhaseGetResponse](t)(w.sdk.Phases.Get(t.Context(), managed, in(inShop, rulesets.PhaseGetParams{})))
	exception := rule[rulesets.RuleNewParamsBody](w, `{"ref":"upload","action":"skip","expression":"http.request.uri.path eq \"/upload\"","action_parameters":{"rules":{"`+core+`":["c04e0000000000000000000100000003"]}}}`)
	set(&exception.Position, map[string]any{"before": live.Rules[0].ID})
	must[*rulesets.RuleNewResponse](t)(w.sdk.Rules.New(t.Context(), live.ID, in(inShop, rulesets.RuleNewParams{Body: exception})))

	dir := filepath.Join(t.TempDir(), "edge")
	if out, code := w.seawall(t, "import", "--rules", dir); code != 0 {
		t.Fatalf("%d\n%s", code, out)
	}
	w.agrees(t, dir)

	for _, c := range []struct {
		phase           rulesets.Phase
		ref, rule, path string
		old, now        any
	}{
		{custom, "robots", `{"ref":"robots","action":"managed_challenge","expression":"ssl","enabled":false}`, "expression", "ssl", `http.user_agent contains "bot"`},
		{limited, "login", `{"ref":"login","action":"block","expression":"http.request.uri.path eq \"/login\"","ratelimit":{"characteristics":["ip.src","cf.colo.id"],"period":60,"requests_per_period":500,"mitigation_timeout":600}}`, "limit.requests", 500.0, 5.0},
	} {
		_, _, before := ruleOf(w, c.phase, c.ref)
		edit(w, c.phase, c.ref, c.rule)
		changes := w.changes(t, dir)
		if len(changes) != 1 || changes[0].Deployment != c.ref || len(changes[0].Fields) != 1 {
			t.Fatalf("%s: got %+v", c.ref, changes)
		}
		if f := changes[0].Fields[0]; f.Path != c.path || f.Old != c.old || f.New != c.now {
			t.Errorf("%s: got %+v", c.ref, f)
		}
		if out, code := w.seawall(t, "apply", "--dir", dir); code != 0 {
			t.Fatalf("%d\n%s", code, out)
		}
		_, _, after := ruleOf(w, c.phase, c.ref)
		for _, name := range []string{"id", "action", "expression", "action_parameters", "ratelimit", "enabled"} {
			a, _ := json.Marshal(before[name])
			b, _ := json.Marshal(after[name])
			if string(a) != string(b) {
				t.Errorf("%s: %s was %s and is %s", c.ref, name, a, b)
			}
		}
		w.agrees(t, dir)
	}
}

// What Seawall applies, the SDK reads as it is declared.
func TestTheSDKReadsWhatSeawallWrites(t *testing.T) {
	w := begin(t)
	dir := t.TempDir()
	const declared = `package edge

account: "Production": zone: "shop.example": {
	waf: {}
	rules: custom: {
		office: {expression: "ip.src in {192.0.2.0/24}", action: "skip", skip: {ruleset: "current", products: ["bic"]}, logging: false, order: "first"}
		admin: {
			expression: #"starts_with(http.request.uri.path, "/admin")"#, action: "block", description: "nobody comes here"
			response: {status: 404, type: "text/plain", content: "no"}
		}
		later: {expression: "ssl", action: "log", enabled: false, order: "last"}
	}
	rules: rate_limit: login: {
		expression: #"http.request.uri.path eq "/login""#, action: "managed_challenge"
		limit: {characteristics: ["cf.colo.id", "ip.src"], period: 60, requests: 5, timeout: 0, counting: "http.response.code eq 403", to_origin: true}
	}
}
`
	if err := os.WriteFile(filepath.Join(dir, "shop.cue"), []byte(declared), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := w.seawall(t, "apply", "--dir", dir); code != 0 {
		t.Fatalf("%d\n%s", code, out)
	}
	got := must[*rulesets.PhaseGetResponse](t)(w.sdk.Phases.Get(t.Context(), custom, in(inShop, rulesets.PhaseGetParams{})))
	var order []string
	for _, r := range got.Rules {
		order = append(order, r.Ref)
	}
	if !slices.Equal(order, []string{"office", "admin", "later"}) {
		t.Errorf("the order is %v", order)
	}
	_, office, _ := ruleOf(w, custom, "office")
	skip, is := office.ActionParameters.(rulesets.SkipRuleActionParameters)
	if !is || skip.Ruleset != rulesets.SkipRuleActionParametersRulesetCurrent || len(skip.Products) != 1 || office.Logging.Enabled || !office.Enabled {
		t.Errorf("got %+v", office)
	}
	_, admin, _ := ruleOf(w, custom, "admin")
	block, is := admin.ActionParameters.(rulesets.BlockRuleActionParameters)
	if !is || block.Response.StatusCode != 404 || block.Response.Content != "no" || block.Response.ContentType != "text/plain" ||
		admin.Expression != `starts_with(http.request.uri.path, "/admin")` || admin.Description != "nobody comes here" {
		t.Errorf("got %+v", admin)
	}
	if _, later, _ := ruleOf(w, custom, "later"); later.Action != rulesets.PhaseGetResponseRulesActionLog || later.Enabled {
		t.Errorf("got %+v", later)
	}
	_, login, _ := ruleOf(w, limited, "login")
	limit, is := login.Ratelimit.(rulesets.ManagedChallengeRuleRatelimit)
	if !is || limit.Period != 60 || limit.RequestsPerPeriod != 5 || limit.MitigationTimeout != 0 || !limit.RequestsToOrigin ||
		limit.CountingExpression != "http.response.code eq 403" || !slices.Equal(limit.Characteristics, []string{"cf.colo.id", "ip.src"}) {
		t.Errorf("got %+v", login)
	}
	w.agrees(t, dir)
}

// What the plan of a zone does not take is blocked before anything is sent. The plan comes with
// the list in which the zone is found.
func TestThePlanOfAZone(t *testing.T) {
	w := begin(t)
	dir := t.TempDir()
	const declared = `package edge

account: "Staging": zone: "free.example": {
	waf: {}
	rules: custom: seen: {expression: "ssl", action: "log"}
	rules: custom: old: {expression: "not ssl", action: "block"}
	rules: rate_limit: login: {
		expression: #"http.request.uri.path eq "/login""#, action: "block"
		limit: {characteristics: ["cf.colo.id", "ip.src"], period: 60, requests: 5, timeout: 600}
	}
}
`
	if err := os.WriteFile(filepath.Join(dir, "free.cue"), []byte(declared), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code := w.seawall(t, "plan", "--dir", dir)
	for _, text := range []string{
		`the plan "free" takes the actions block, challenge, execute, js_challenge, managed_challenge and skip, not log`,
		`the plan "free" takes a period of 10 seconds, not 60; it takes a timeout of 10 seconds, not 600`,
	} {
		if !strings.Contains(out, text) {
			t.Errorf("%d\n%s\nwithout %s", code, out, text)
		}
	}
	if out, code := w.seawall(t, "apply", "--dir", dir); code != 4 || !strings.Contains(out, "custom rule old") {
		t.Errorf("%d\n%s", code, out)
	}
	entry := must[*rulesets.PhaseGetResponse](t)(w.sdk.Phases.Get(t.Context(), custom, in(inFree, rulesets.PhaseGetParams{})))
	if len(entry.Rules) != 1 || entry.Rules[0].Ref != "old" {
		t.Errorf("got %+v", entry.Rules)
	}
	_, err := w.sdk.Phases.Get(t.Context(), limited, in(inFree, rulesets.PhaseGetParams{}))
	refused(t, err, 404, "10003")
}
