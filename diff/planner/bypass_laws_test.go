package planner_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
)

// skipWorld is a zone with two deployments, and what may keep requests from them. It knows by
// itself what a plan has to say of that: this is the model that plans are compared with.
type skipWorld struct {
	rules   []edge.Rule                // of the entry point
	ahead   map[edge.Place][]edge.Rule // of earlier phases
	looked  map[edge.Place]bool        // which of these are looked at now
	byKey   map[string]*modelled
	now     time.Time
	applied diff.Applied
	next    int // the number of the next skip rule

	declares *planner.Input // what is declared, and the account: the same values until a declaration changes
}

// modelled is a deployment as the model knows it.
type modelled struct {
	declared desired.Deployment
	execute  edge.RuleID
	proved   map[edge.Place]map[edge.RuleID]string // what acted on it where, at the last proof; nil: not looked at
}

const (
	otherCore edge.RulesetID = "c04e0000000000000000000000000002"
	otherRule edge.RuleID    = "d0000000000000000000000000000002"
)

var (
	ownPlace  = difftest.Zone.At(edge.PhaseFirewallManaged)
	farPlaces = []edge.Place{
		difftest.Zone.At(edge.PhaseFirewallCustom), difftest.Zone.At(edge.PhaseRateLimit), edge.AccountScope(difftest.Account).At(edge.PhaseFirewallCustom),
	}
	managedIDs = map[string]edge.RulesetID{"core": difftest.Core, "other": otherCore}
)

func newSkipWorld() *skipWorld {
	second := difftest.Execute(nil)
	second.ID, second.Ref, second.ActionParameters = otherRule, "deploy-other", &edge.ActionParameters{ID: otherCore, Version: "latest"}
	return &skipWorld{
		rules: []edge.Rule{difftest.Execute(nil), second}, ahead: map[edge.Place][]edge.Rule{}, looked: map[edge.Place]bool{},
		byKey: map[string]*modelled{
			"core":  {declared: difftest.Deployment(), execute: difftest.Rule, proved: map[edge.Place]map[edge.RuleID]string{}},
			"other": {declared: difftest.Deployment(), execute: otherRule, proved: map[edge.Place]map[edge.RuleID]string{}},
		},
		now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), applied: diff.Applied{},
	}
}

// input is what a plan is made from.
func (w *skipWorld) input(rules []edge.Rule, ahead map[edge.Place][]edge.Rule) planner.Input {
	if w.declares == nil {
		w.declares = new(w.declared())
	}
	in := *w.declares
	in.Live.EntryPoints = difftest.Live(rules...).EntryPoints
	seen := map[edge.Place][]edge.Rule{}
	for at, looked := range w.looked {
		if looked {
			seen[at] = ahead[at]
		}
	}
	in.Live.Ahead, in.Applied, in.Now = difftest.Ahead(seen), maps.Clone(w.applied), w.now
	return in
}

func (w *skipWorld) declared() planner.Input {
	in := difftest.One(w.byKey["core"].declared)
	other := w.byKey["other"].declared
	other.Ruleset, other.Origin = "other", difftest.At(5)
	account := &in.State.Accounts[0]
	account.Rulesets = append(account.Rulesets, desired.RulesetRef{Key: "other", ID: otherCore})
	account.Zones[0].Deployments = append(account.Zones[0].Deployments, other)
	managed := difftest.Managed()
	managed.ID, managed.Name = otherCore, "Other Ruleset"
	live := in.Live.Accounts[difftest.Account]
	live.Listed.Value = append(live.Listed.Value, managed)
	live.Managed[otherCore] = diff.Observed[edge.Ruleset]{Value: managed}
	in.Live.Accounts[difftest.Account] = live
	return in
}

// acts reports how the model sees a skip rule act on a deployment: "" not at all, "all", or the
// numbers of the rules.
func (w *skipWorld) acts(key string, at edge.Place, rules []edge.Rule, i int) string {
	rule, m := rules[i], w.byKey[key]
	if !*rule.Enabled || rule.Expression == "false" {
		return ""
	}
	var p struct {
		Ruleset  string
		Rulesets []edge.RulesetID
		Rules    map[edge.RulesetID][]edge.RuleID
		Phases   []edge.Phase
	}
	data, _ := json.Marshal(rule.ActionParameters)
	_ = json.Unmarshal(data, &p)
	if at != ownPlace {
		return map[bool]string{true: "all"}[slices.Contains(p.Phases, edge.PhaseFirewallManaged)]
	}
	for _, before := range rules[:i] {
		if before.ID == m.execute {
			return ""
		}
	}
	if p.Ruleset == "current" || slices.Contains(p.Rulesets, managedIDs[key]) {
		return "all"
	}
	numbers := ""
	for n := range 9 {
		if n != 5 && slices.Contains(p.Rules[managedIDs[key]], difftest.RuleID(n)) { // rule 5 is off
			numbers += fmt.Sprint(n)
		}
	}
	return numbers
}

func content(r edge.Rule) string {
	data, _ := json.Marshal([]any{r.Expression, r.ActionParameters, *r.Enabled})
	return string(data)
}

// verdict is what the model says of one skip rule and one deployment.
type verdict struct {
	state  diff.BypassState
	always bool
	needs  bool
	hash   string
}

// judge is the model: of each deployment, the skip rules that act on it.
func (w *skipWorld) judge(rules []edge.Rule, ahead map[edge.Place][]edge.Rule) map[string]verdict {
	all := map[string]verdict{}
	for key, m := range w.byKey {
		for at, of := range w.seen(rules, ahead) {
			for i, r := range of {
				acts := w.acts(key, at, of, i)
				if acts == "" {
					continue
				}
				v := verdict{state: w.state(m, at, r, acts), always: r.Expression == "true", hash: content(r)}
				v.needs = v.state != diff.BypassAccepted && (v.state != diff.BypassFound || v.always)
				all[key+" "+string(r.ID)] = v
			}
		}
	}
	return all
}

// seen are the rules of each place that is looked at.
func (w *skipWorld) seen(rules []edge.Rule, ahead map[edge.Place][]edge.Rule) map[edge.Place][]edge.Rule {
	places := map[edge.Place][]edge.Rule{ownPlace: rules}
	for at, looked := range w.looked {
		if looked {
			places[at] = ahead[at]
		}
	}
	return places
}

func (w *skipWorld) state(m *modelled, at edge.Place, r edge.Rule, acts string) diff.BypassState {
	for _, a := range m.declared.Accepted {
		if a.Rule != string(r.ID) {
			continue
		}
		switch last, _ := time.Parse("2006-01-02", a.Until); {
		case a.Until != "" && w.now.Format("2006-01-02") > last.Format("2006-01-02"):
			return diff.BypassExpired
		case a.Expression != r.Expression:
			return diff.BypassDiffers
		case !a.All && acts == "all":
			return diff.BypassDiffers
		case !a.All:
			for _, n := range acts {
				if !slices.Contains(a.Rules, difftest.RuleID(int(n-'0'))) {
					return diff.BypassDiffers
				}
			}
		}
		return diff.BypassAccepted
	}
	known := m.proved[at]
	switch was, there := known[r.ID]; {
	case known == nil, was == content(r):
		return diff.BypassFound
	case there:
		return diff.BypassChanged
	}
	return diff.BypassNew
}

// goes are the skip rules that the model has removed.
func (w *skipWorld) goes(rules []edge.Rule) map[edge.RuleID]bool {
	gone := map[edge.RuleID]bool{}
	for name, v := range w.judge(rules, nil) {
		key, id, _ := strings.Cut(name, " ")
		in := slices.ContainsFunc(rules, func(r edge.Rule) bool { return r.ID == edge.RuleID(id) })
		if d := w.byKey[key].declared; in && v.state == diff.BypassNew && d.Bypass != nil && d.Bypass.Value == desired.RemoveBypass {
			gone[edge.RuleID(id)] = true
		}
	}
	for _, m := range w.byKey {
		for _, a := range m.declared.Accepted {
			if a.Until == "" || w.now.Format("2006-01-02") <= a.Until {
				delete(gone, edge.RuleID(a.Rule))
			}
		}
	}
	return gone
}

// prove has the model remember what a plan has proved.
func (w *skipWorld) prove(plan diff.Plan, verdicts map[string]verdict) {
	for _, s := range plan.Settled {
		w.applied[s.ID] = s.Owned
	}
	for key, m := range w.byKey {
		for at, of := range w.seen(w.rules, w.ahead) {
			was := m.proved[at]
			m.proved[at] = map[edge.RuleID]string{}
			for _, r := range of {
				v, acts := verdicts[key+" "+string(r.ID)]
				before, known := was[r.ID]
				switch {
				case !acts:
				case v.state == diff.BypassFound || v.state == diff.BypassAccepted:
					m.proved[at][r.ID] = v.hash
				case known:
					m.proved[at][r.ID] = before
				}
			}
		}
	}
}

// genSkip draws a skip rule for a place.
func (w *skipWorld) genSkip(t *rapid.T, at edge.Place) edge.Rule {
	expression := rapid.SampledFrom([]string{"true", `http.host eq "a"`, "ip.src eq 192.0.2.7", "false"}).Draw(t, "expression")
	parameters := `{"phases":["http_request_firewall_managed"]}`
	if at == ownPlace {
		parameters = rapid.SampledFrom([]string{
			`{"ruleset":"current"}`, fmt.Sprintf(`{"rulesets":[%q]}`, otherCore), fmt.Sprintf(`{"rules":{%q:[%q,%q]}}`, difftest.Core, difftest.RuleID(1), difftest.RuleID(5)),
			fmt.Sprintf(`{"rules":{%q:[%q],%q:[%q,%q]}}`, difftest.Core, difftest.RuleID(5), otherCore, difftest.RuleID(2), difftest.RuleID(3)),
		}).Draw(t, "parameters")
	}
	w.next++
	return difftest.Skip(w.next, expression, parameters)
}

// skips are the places of the skip rules of a list.
func skips(rules []edge.Rule) (at []int) {
	for i, r := range rules {
		if r.Action == edge.ActionSkip {
			at = append(at, i)
		}
	}
	return at
}

// step is one thing that happens. Whether an earlier phase is looked at may be another each time.
func (w *skipWorld) step(t *rapid.T, plan diff.Plan, verdicts map[string]verdict) {
	at := rapid.SampledFrom(append([]edge.Place{ownPlace, ownPlace}, farPlaces...)).Draw(t, "place")
	if far := rapid.SampledFrom(append([]edge.Place{ownPlace}, farPlaces...)).Draw(t, "looks"); far != ownPlace {
		defer func() { w.looked[far] = !w.looked[far] }()
	}
	rules := w.rules
	if at != ownPlace {
		rules = w.ahead[at]
	}
	rules = slices.Clone(rules)
	pick := func() int { return rapid.SampledFrom(skips(rules)).Draw(t, "rule") }
	what := rapid.SampledFrom([]string{"proof", "proof", "proof", "time", "decide", "accept", "accept", "withdraw", "add", "add", "change", "change", "move", "switch", "remove"}).Draw(t, "what")
	if len(skips(rules)) == 0 && slices.Contains([]string{"change", "move", "switch", "remove", "accept"}, what) {
		what = "add"
	}
	m := w.byKey[rapid.SampledFrom([]string{"core", "other"}).Draw(t, "deployment")]
	switch what {
	case "proof":
		w.prove(plan, verdicts)
	case "time":
		w.now = w.now.Add(12 * time.Hour)
	case "decide":
		m.declared.Bypass = difftest.Declared(17, rapid.SampledFrom([]desired.Bypass{desired.ReportBypass, desired.RemoveBypass, desired.RemoveBypass}).Draw(t, "bypass"))
	case "accept":
		m.declared.Accepted = genAccepted(t, m.declared.Accepted, rules[pick()], w.now)
	case "withdraw":
		m.declared.Accepted = nil
	case "add":
		rules = slices.Insert(rules, rapid.IntRange(0, len(rules)).Draw(t, "index"), w.genSkip(t, at))
	case "change":
		i := pick()
		now := w.genSkip(t, at)
		rules[i].Expression, rules[i].ActionParameters = now.Expression, now.ActionParameters
	case "move":
		i := pick()
		r := rules[i]
		rules = slices.Delete(rules, i, i+1)
		rules = slices.Insert(rules, rapid.IntRange(0, len(rules)).Draw(t, "to"), r)
	case "switch":
		i := pick()
		rules[i].Enabled = new(!*rules[i].Enabled)
	case "remove":
		i := pick()
		rules = slices.Delete(rules, i, i+1)
	}
	if slices.Contains([]string{"decide", "accept", "withdraw"}, what) {
		w.declares = nil
		return
	}
	if at == ownPlace {
		w.rules = rules
	} else {
		w.ahead[at] = rules
	}
}

func genAccepted(t *rapid.T, have []desired.Accepted, r edge.Rule, now time.Time) []desired.Accepted {
	a := desired.Accepted{Rule: string(r.ID), Owner: "team-sre", Origin: difftest.At(18), Expression: r.Expression, All: rapid.Bool().Draw(t, "all")}
	if rapid.IntRange(0, 4).Draw(t, "another expression") == 0 {
		a.Expression = "ip.src eq 198.51.100.1"
	}
	if !a.All {
		a.Rules = rapid.SampledFrom([][]edge.RuleID{{difftest.RuleID(1), difftest.RuleID(5)}, {difftest.RuleID(2)}, {difftest.RuleID(1), difftest.RuleID(2), difftest.RuleID(3)}}).Draw(t, "rules")
	}
	if rapid.IntRange(0, 3).Draw(t, "ends") == 0 {
		a.Until = now.AddDate(0, 0, rapid.IntRange(-1, 1).Draw(t, "until")).Format("2006-01-02")
	}
	have = slices.DeleteFunc(slices.Clone(have), func(o desired.Accepted) bool { return o.Rule == a.Rule })
	return append(have, a)
}

// said is what a plan says of skip rules, as the model does.
func said(plan diff.Plan) map[string]verdict {
	all := map[string]verdict{}
	for _, b := range plan.Bypasses {
		all[b.Deployment+" "+string(b.Rule)] = verdict{state: b.State, always: b.Always, needs: b.NeedsPerson() || b.Remove}
	}
	return all
}

// bypassedOf are the deployments with problems, each with how many.
func bypassedOf(plan diff.Plan) map[string]int {
	all := map[string]int{}
	for _, p := range plan.Problems {
		if p.State == diff.Bypassed {
			all[p.Deployment]++
		}
	}
	return all
}

// What needs a person, what is quiet and what is removed is what a small model says that knows
// nothing of plans, whatever happens in which order.
func TestSkipRulesAreJudgedAsTheModelDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, memory := newSkipWorld(), (*diff.Memory)(nil).Renew()
		if rapid.Bool().Draw(t, "removes") {
			w.byKey["core"].declared.Bypass = difftest.Declared(17, desired.RemoveBypass)
		}
		for range rapid.IntRange(1, 24).Draw(t, "steps") {
			in := w.input(w.rules, w.ahead)
			plan := planner.Make(in)
			in.Memory = memory
			if with := planner.Make(in); with.Digest != plan.Digest || fmt.Sprint(with.Settled) != fmt.Sprint(plan.Settled) || fmt.Sprint(with.Bypasses) != fmt.Sprint(plan.Bypasses) {
				t.Fatalf("with a memory\n%+v\nwithout\n%+v", with, plan)
			}
			want, gone := w.judge(w.rules, w.ahead), w.goes(w.rules)
			w.compare(t, plan, want, gone)
			w.addOne(t, plan)
			w.step(t, plan, want)
		}
	})
}

func (w *skipWorld) compare(t *rapid.T, plan diff.Plan, want map[string]verdict, gone map[edge.RuleID]bool) {
	problems := map[string]int{}
	for name, v := range want {
		key, id, _ := strings.Cut(name, " ")
		if v.needs && !gone[edge.RuleID(id)] {
			problems[key]++
		}
		v.hash = ""
		want[name] = v
	}
	if got := said(plan); !maps.Equal(got, want) {
		t.Fatalf("it says\n%+v, the model\n%+v", got, want)
	}
	if got := bypassedOf(plan); !maps.Equal(got, problems) {
		t.Fatalf("problems %v, the model has %v", got, problems)
	}
	removed := map[edge.RuleID]bool{}
	for _, c := range plan.Changes {
		o, is := c.Operation.(diff.RuleOperation)
		if !is || c.Kind != "exception" || o.Do != diff.ActionRemove || removed[o.Target.Rule] {
			t.Fatalf("it plans %+v", c)
		}
		removed[o.Target.Rule] = true
	}
	if !maps.Equal(removed, gone) {
		t.Fatalf("it removes %v, the model %v", removed, gone)
	}
	quiet := len(problems) == 0 && len(gone) == 0
	if plan.Summary.InSync != map[bool]int{true: 1}[quiet] || plan.Attention() != (len(problems) > 0) {
		t.Fatalf("%s, attention %v; problems %v, removed %v", plan.Summary, plan.Attention(), problems, gone)
	}
	if len(plan.Settled) != 2 {
		t.Fatalf("settled %+v", plan.Settled)
	}
	for i := range want { // the hashes are needed for the proof
		v := want[i]
		_, id, _ := strings.Cut(i, " ")
		for _, of := range w.seen(w.rules, w.ahead) {
			for _, r := range of {
				if r.ID == edge.RuleID(id) {
					v.hash = content(r)
				}
			}
		}
		want[i] = v
	}
}

// addOne adds a skip rule anywhere: what was said before is said still, and the zone looks no
// more protected.
func (w *skipWorld) addOne(t *rapid.T, before diff.Plan) {
	at := rapid.SampledFrom(append([]edge.Place{ownPlace}, farPlaces...)).Draw(t, "added to")
	rules, ahead := slices.Clone(w.rules), maps.Clone(w.ahead)
	if at == ownPlace {
		rules = slices.Insert(rules, rapid.IntRange(0, len(rules)).Draw(t, "added at"), w.genSkip(t, at))
	} else {
		ahead[at] = append(slices.Clone(ahead[at]), w.genSkip(t, at))
	}
	after := planner.Make(w.input(rules, ahead))
	has := said(after)
	for name, v := range said(before) {
		if has[name] != v {
			t.Fatalf("%s was %+v, and with another rule it is %+v", name, v, has[name])
		}
	}
	counted := bypassedOf(after)
	for key, n := range bypassedOf(before) {
		if counted[key] < n {
			t.Fatalf("%s had %d problems, and with another rule %d", key, n, counted[key])
		}
	}
	if after.Summary.InSync > before.Summary.InSync {
		t.Fatalf("with another rule more is in sync: %s, %s", before.Summary, after.Summary)
	}
}
