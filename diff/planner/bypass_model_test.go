package planner_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
	proved   map[edge.Place]map[edge.RuleID]string // what acted on it where, at the last proof, and what was idle; nil: not looked at
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
				v := verdict{state: w.state(m, at, of, r, acts), always: r.Expression == "true", hash: content(r)}
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

func (w *skipWorld) state(m *modelled, at edge.Place, of []edge.Rule, r edge.Rule, acts string) diff.BypassState {
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
	for id, was := range known {
		if at == ownPlace && was == content(r) && !has(of, id) {
			return diff.BypassChanged // it was there under another id
		}
	}
	return diff.BypassNew
}

func has(rules []edge.Rule, id edge.RuleID) bool {
	return slices.ContainsFunc(rules, func(r edge.Rule) bool { return r.ID == id })
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
				case !acts && at == ownPlace && r.Action == edge.ActionSkip:
					m.proved[at][r.ID] = "idle"
				case !acts:
				case v.state == diff.BypassFound || v.state == diff.BypassAccepted:
					m.proved[at][r.ID] = v.hash
				case known:
					m.proved[at][r.ID] = before
				}
				for id, gone := range was {
					settled := v.state == diff.BypassFound || v.state == diff.BypassAccepted
					if at == ownPlace && acts && !settled && !has(of, id) && gone == v.hash {
						m.proved[at][id] = gone
					}
				}
			}
		}
	}
}
