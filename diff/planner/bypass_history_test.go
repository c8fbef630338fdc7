package planner_test

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

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
	what := rapid.SampledFrom([]string{"proof", "proof", "proof", "time", "decide", "accept", "accept", "withdraw", "add", "add", "change", "change", "move", "switch", "remove", "write all"}).Draw(t, "what")
	if len(skips(rules)) == 0 && slices.Contains([]string{"change", "move", "switch", "remove", "write all", "accept"}, what) {
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
	case "write all": // as a client does that writes the whole entry point: a rule without a ref gets another id
		w.next++
		i := pick()
		rules[i].ID, rules[i].Ref = difftest.SkipID(w.next), ""
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
