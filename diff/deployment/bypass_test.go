package deployment

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

var (
	customOfZone    = difftest.Zone.At(edge.PhaseFirewallCustom)
	customOfAccount = edge.AccountScope(difftest.Account).At(edge.PhaseFirewallCustom)
	march           = time.Date(2026, 3, 31, 23, 59, 0, 0, time.UTC)
)

// judged plans a zone with these rules before its execute rule, after a proof with those.
func judged(d desired.Deployment, was, now []edge.Rule, at time.Time, change func(*diff.Input)) diff.Part {
	plan := func(rules []edge.Rule, applied diff.Applied) diff.Part {
		in := difftest.One(d, append(slices.Clone(rules), difftest.Execute(nil))...)
		in.Applied, in.Now = applied, at
		if change != nil {
			change(&in)
		}
		return Kind{}.Plan(in)
	}
	return plan(now, diff.Applied{coreID: plan(was, nil).Settled[0].Owned})
}

func accepting(expression, until string, rules ...edge.RuleID) difftest.Intent {
	return func(d *desired.Deployment) {
		d.Accepted = []desired.Accepted{{
			Rule: string(difftest.SkipID(0)), Origin: difftest.At(18), Owner: "team-sre", Until: until, Expression: expression, All: len(rules) == 0, Rules: rules,
		}}
	}
}

func removingSkips(d *desired.Deployment) {
	d.Bypass = difftest.Declared(17, desired.RemoveBypass)
}

// What is said of a skip rule, and what a person can do.
func TestWhatIsSaidOfASkipRule(t *testing.T) {
	id := difftest.SkipID(0)
	const probes = "ip.src eq 192.0.2.7"
	one, always := difftest.SkipAll(0, probes), difftest.SkipAll(0, "true")
	part := difftest.Skip(0, probes, fmt.Sprintf(`{"rules":{%q:[%q,%q]}}`, difftest.Core, difftest.RuleID(1), difftest.RuleID(8)))
	unclear := difftest.Skip(0, probes, `{"ruleset":7}`)
	accept := fmt.Sprintf(`accepted: %q: {owner: "TODO", expression: %q, skips: "all"}`, id, probes)
	none := []edge.Rule{}
	for name, test := range map[string]struct {
		d        desired.Deployment
		was, now []edge.Rule
		state    diff.BypassState
		reason   string
		hint     string
		change   func(*diff.Input)
	}{
		"it was there": {difftest.Deployment(), []edge.Rule{one}, []edge.Rule{one}, diff.BypassFound, "", "", nil},
		"always, and was there": {
			difftest.Deployment(),
			[]edge.Rule{always},
			[]edge.Rule{always},
			diff.BypassFound,
			`skip rule "skip 0" (00000000…) keeps all requests from this deployment: expression true, before the execute rule`,
			`remove the rule on the platform; to accept it as it is, declare accepted: "` + string(id) + `": {owner: "TODO", expression: "true", skips: "all"}, and name the owner`, nil,
		},
		"it is new": {
			difftest.Deployment(), none,
			[]edge.Rule{one},
			diff.BypassNew,
			`skip rule "skip 0" (00000000…) keeps requests that match ip.src eq 192.0.2.7 from this deployment, before the execute rule; it came after the deployment was last proved`,
			`remove the rule on the platform, or declare bypass: "remove", which removes rules that come after the proof; to accept it as it is, declare ` + accept, nil,
		},
		"some rules": {
			difftest.Deployment(), none,
			[]edge.Rule{part},
			diff.BypassNew,
			`from 2 rules of this deployment (00000000000000000000000000abc001, Anomaly score), before`,
			fmt.Sprintf(`skips: [%q, %q]}`, difftest.RuleID(1), difftest.RuleID(8)), nil,
		},
		"it was changed": {
			difftest.Deployment(removingSkips),
			[]edge.Rule{one},
			[]edge.Rule{difftest.SkipAll(0, `http.host eq "a"`)},
			diff.BypassChanged,
			`it was changed since the deployment was last proved; bypass: "remove" leaves what was there before`, `expression: "http.host eq \"a\""`, nil,
		},
		"its parameters are not understood": {difftest.Deployment(), none, []edge.Rule{unclear}, diff.BypassNew, "is not understood, so that counts as all", `skips: "all"`, nil},
		"accepted":                          {difftest.Deployment(accepting(probes, "2026-03-31")), none, []edge.Rule{one}, diff.BypassAccepted, "", "", nil},
		"accepted as another": {
			difftest.Deployment(accepting("ip.src eq 192.0.2.8", "2026-03-31")), none,
			[]edge.Rule{one},
			diff.BypassDiffers,
			"; team-sre accepts it with the expression ip.src eq 192.0.2.8",
			fmt.Sprintf(`to accept it as it is, change accepted: %q (zones/shop.cue:18) to {owner: "team-sre", until: "2026-03-31", expression: %q, skips: "all"}`, id, probes), nil,
		},
		"accepted for less": {
			difftest.Deployment(accepting(probes, "", difftest.RuleID(1))), none, []edge.Rule{one}, diff.BypassDiffers, "; team-sre accepts it for 1 rule only", "", nil,
		},
		"accepted without a rule": {
			difftest.Deployment(accepting(probes, "", difftest.RuleID(1))), none, []edge.Rule{part}, diff.BypassDiffers, "; team-sre accepts it without rule " + string(difftest.RuleID(8)), "", nil,
		},
		"accepted for more": {difftest.Deployment(accepting(probes, "")), none, []edge.Rule{part}, diff.BypassAccepted, "", "", nil},
		"accepted until yesterday": {
			difftest.Deployment(accepting(probes, "2026-03-30"), removingSkips), none,
			[]edge.Rule{one},
			diff.BypassExpired, "; team-sre accepted it until 2026-03-30; bypass",
			fmt.Sprintf("remove the rule on the platform; to accept it for longer, set a later until in accepted: %q (zones/shop.cue:18)", id), nil,
		},
		"accepted until yesterday, as another": {
			difftest.Deployment(accepting("ip.src eq 192.0.2.8", "2026-03-30")), none,
			[]edge.Rule{one},
			diff.BypassExpired, "; team-sre accepted it until 2026-03-30",
			fmt.Sprintf(`expression: %q, skips: "all"} with a later until`, probes), nil,
		},
		"in the custom phase": {
			difftest.Deployment(removingSkips), none, none, diff.BypassNew,
			`skip rule "skip 0" (00000000…) of the phase http_request_firewall_custom keeps requests that match ip.src eq 192.0.2.7 from this deployment; it came after the deployment was last proved; bypass: "remove" is about rules of the entry point`,
			"remove the rule on the platform; to accept it", aheadAfterProof(customOfZone, difftest.SkipPhase(0, probes)),
		},
		"in the account": {
			difftest.Deployment(), none, none, diff.BypassNew, "of the account's phase http_request_firewall_custom keeps all requests from this deployment: expression true;", "", aheadAfterProof(customOfAccount, difftest.SkipPhase(0, "true")),
		},
		"the profile cannot remove": {
			difftest.Deployment(removingSkips), none,
			[]edge.Rule{one},
			diff.BypassNew,
			`bypass: "remove" is declared, and the profile has no call that deletes a rule`, `set platform.profile: "extended"`, func(in *diff.Input) { in.Live = documented(in.Live) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			part := judged(test.d, test.was, test.now, march, test.change)
			if len(part.Bypasses) != 1 || part.Bypasses[0].State != test.state || len(part.Settled) != 1 || len(part.Changes) > 0 {
				t.Fatalf("%+v", part)
			}
			if test.reason == "" {
				if len(part.Problems) > 0 {
					t.Errorf("%+v", part.Problems)
				}
				return
			}
			if len(part.Problems) != 1 || part.Problems[0].State != diff.Bypassed || part.Problems[0].Origin.IsZero() {
				t.Fatalf("%+v", part.Problems)
			}
			if p := part.Problems[0]; !strings.Contains(p.Reason, test.reason) || !strings.Contains(p.Hint, test.hint) {
				t.Errorf("it says\n%s\n%s\nwant\n%s\n%s", p.Reason, p.Hint, test.reason, test.hint)
			}
		})
	}
}

// aheadAfterProof has an earlier phase looked at, in which a rule stands after the proof.
func aheadAfterProof(at edge.Place, rule edge.Rule) func(*diff.Input) {
	return func(in *diff.Input) {
		var rules []edge.Rule
		if in.Applied != nil {
			rules = append(rules, rule)
		}
		in.Live.Ahead = difftest.Ahead(map[edge.Place][]edge.Rule{at: rules})
	}
}

// A skip rule that was there without an effect when the deployment was proved needs a person once
// it has one, and is not removed: it is not new.
func TestASkipRuleThatWasThere(t *testing.T) {
	const probes = "ip.src eq 192.0.2.7"
	off := difftest.SkipAll(0, probes)
	off.Enabled = new(false)
	ofRule := difftest.Skip(0, probes, fmt.Sprintf(`{"rules":{%q:[%q]}}`, difftest.Core, difftest.RuleID(1)))
	one := difftest.SkipAll(0, probes)
	without := difftest.Execute(&edge.Overrides{Rules: []edge.RuleOverride{{ID: difftest.RuleID(1), Enabled: new(false)}}})
	execute := difftest.Execute(nil)
	for name, test := range map[string]struct {
		was, now []edge.Rule
		state    diff.BypassState
	}{
		"turned on":              {[]edge.Rule{off, execute}, []edge.Rule{one, execute}, diff.BypassChanged},
		"moved before":           {[]edge.Rule{execute, one}, []edge.Rule{one, execute}, diff.BypassChanged},
		"of a rule that was off": {[]edge.Rule{ofRule, without}, []edge.Rule{ofRule, execute}, diff.BypassChanged},
		"added":                  {[]edge.Rule{execute}, []edge.Rule{one, execute}, diff.BypassNew},
	} {
		t.Run(name, func(t *testing.T) {
			d := difftest.Deployment(removingSkips)
			first := Kind{}.Plan(difftest.One(d, test.was...))
			if len(first.Settled) == 0 { // a member is not declared, which is beside the point
				first = Kind{}.Plan(difftest.One(d, append(slices.Clone(test.was[:len(test.was)-1]), execute)...))
			}
			in := difftest.One(d, test.now...)
			in.Applied = diff.Applied{coreID: first.Settled[0].Owned}
			part := Kind{}.Plan(in)
			if len(part.Bypasses) != 1 || part.Bypasses[0].State != test.state || part.Bypasses[0].Remove != (test.state == diff.BypassNew) {
				t.Errorf("%+v, of %q", part.Bypasses, first.Settled[0].Owned)
			}
			if test.state == diff.BypassChanged && !strings.Contains(part.Problems[0].Reason, "; it was there without an effect when the deployment was last proved; bypass") {
				t.Errorf("%+v", part.Problems)
			}
		})
	}
}

// A skip rule for a zone of another name than the declared one, which the platform has not told: in
// the zone itself it is judged as any other, and only in the account it is for other zones.
func TestASkipRuleForAnotherName(t *testing.T) {
	const other = `cf.zone.name eq "other.example"`
	none := []edge.Rule{}
	for name, test := range map[string]struct {
		now    []edge.Rule
		change func(*diff.Input)
		state  diff.BypassState
	}{
		"in its entry point":  {[]edge.Rule{difftest.SkipAll(0, other)}, nil, diff.BypassNew},
		"in its custom phase": {none, aheadAfterProof(customOfZone, difftest.SkipPhase(0, other)), diff.BypassNew},
		"in the account":      {none, aheadAfterProof(customOfAccount, difftest.SkipPhase(0, other)), diff.BypassElsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			named := func(in *diff.Input) {
				in.State.Accounts[0].Zones[0].Name = "shop.example"
				if test.change != nil {
					test.change(in)
				}
			}
			part := judged(difftest.Deployment(), none, test.now, march, named)
			if len(part.Bypasses) != 1 || part.Bypasses[0].State != test.state || (len(part.Problems) > 0) != (test.state == diff.BypassNew) {
				t.Errorf("%+v", part)
			}
		})
	}
}

// A deployment that is created stands behind each skip rule that is there, and is said to be
// bypassed before it is.
func TestCreatedBehindASkipRule(t *testing.T) {
	d := difftest.Deployment(func(d *desired.Deployment) { d.Deploy = true })
	for _, in := range []diff.Input{
		difftest.One(d, difftest.SkipAll(0, "true")),
		func() diff.Input {
			in := difftest.One(d)
			in.Applied = diff.Applied{}
			aheadAfterProof(customOfZone, difftest.SkipPhase(0, "true"))(&in)
			return in
		}(),
	} {
		part := Kind{}.Plan(in)
		if len(part.Changes) != 1 || len(part.Problems) != 1 || part.Problems[0].State != diff.Bypassed || len(part.Bypasses) != 1 {
			t.Errorf("%+v", part)
		}
	}
}

// A rule that another deployment of the zone accepts stays, and needs the person who wants it gone.
func TestASkipRuleThatAnotherAcceptsStays(t *testing.T) {
	p := planner{in: diff.Input{Now: march}}
	zone := desired.Zone{Deployments: []desired.Deployment{difftest.Deployment(removingSkips), difftest.Deployment(accepting("true", ""))}}
	zone.Deployments[0].Ruleset, zone.Deployments[1].Ruleset = "core", "other"
	rule := difftest.SkipAll(0, "true")
	b := bypassed{at: place{zone: zone, d: zone.Deployments[0]}, where: difftest.Zone.At(edge.PhaseFirewallManaged), rule: rule}
	b.Bypass = diff.Bypass{Scope: difftest.Zone, Rule: rule.ID, State: diff.BypassNew, All: true, Always: true}
	p.bypassing = []bypassed{b}
	p.tellBypasses(desired.Account{}, zone)
	if len(p.out.Problems) != 1 || !strings.Contains(p.out.Problems[0].Reason, `bypass: "remove" leaves it, because deployment "other" accepts it`) || p.out.Bypasses[0].Remove {
		t.Errorf("%+v", p.out)
	}
}

// What could not be read at the first look is not new once it can be; what comes to a ruleset
// that could be read is, though that cannot be read in between.
func TestARulesetThatCannotBeReadForAWhile(t *testing.T) {
	const custom edge.RulesetID = "c5700000000000000000000000000001"
	execute := edge.Rule{ID: "ee000000000000000000000000000001", Action: edge.ActionExecute, Expression: "true", Enabled: new(true), ActionParameters: &edge.ActionParameters{ID: custom}}
	var applied diff.Applied
	look := func(skips ...edge.Rule) []diff.BypassState {
		t.Helper()
		in := difftest.One(difftest.Deployment(), difftest.Execute(nil))
		in.Applied = applied
		in.Live.Ahead = difftest.Ahead(map[edge.Place][]edge.Rule{customOfAccount: {execute}})
		ahead := in.Live.Ahead[customOfAccount]
		ahead.Executed = map[edge.RulesetID]diff.Observed[edge.Ruleset]{custom: {Err: errors.New("down")}}
		if skips != nil {
			ahead.Executed[custom] = diff.Observed[edge.Ruleset]{Value: edge.Ruleset{ID: custom, Rules: skips}}
		}
		in.Live.Ahead[customOfAccount] = ahead
		part := Kind{}.Plan(in)
		applied = diff.Applied{coreID: part.Settled[0].Owned}
		var states []diff.BypassState
		for _, b := range part.Bypasses {
			states = append(states, b.State)
		}
		return states
	}
	want := func(got []diff.BypassState, want ...diff.BypassState) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("states %q, want %q; on record %q", got, want, applied)
		}
	}
	first, second := difftest.SkipPhase(0, `http.host eq "a"`), difftest.SkipPhase(1, `http.host eq "b"`)
	want(look())
	want(look())
	want(look(first), diff.BypassFound)
	want(look())
	want(look(first, second), diff.BypassFound, diff.BypassNew)
	want(look(first), diff.BypassFound)
	want(look([]edge.Rule{}...))
	want(look(first), diff.BypassNew)
}

// Records of a version that did not look for skip rules make none of them new.
func TestARecordWithoutTheMark(t *testing.T) {
	in := difftest.One(difftest.Deployment(removingSkips), difftest.SkipAll(0, `http.host eq "a"`), difftest.Execute(nil))
	in.Applied = diff.Applied{coreID: rememberFound(nil)}
	if part := (Kind{}).Plan(in); len(part.Problems) > 0 || part.Bypasses[0].State != diff.BypassFound {
		t.Errorf("%+v", part)
	}
}

// A skip rule counts as accepted while it is live as git declares it; else the plan makes it so
// again, and it needs a person only where nothing does.
func TestADeclaredSkipRule(t *testing.T) {
	live := difftest.Skip(0, "ip.src eq 192.0.2.7", `{"phases":["http_request_firewall_managed"]}`)
	declared := diff.DeclaredSkip{Kind: desired.Exception, Key: live.Ref, Owner: "team-sre", Origin: difftest.At(9)}
	agrees, over := declared, declared
	agrees.Agrees, over.Over = true, true
	for name, c := range map[string]struct {
		said   diff.DeclaredSkip
		state  diff.BypassState
		person bool
	}{
		"nothing declares it": {diff.DeclaredSkip{}, diff.BypassNew, true},
		"as declared":         {agrees, diff.BypassAccepted, false},
		"otherwise":           {declared, diff.BypassDiffers, false},
		"over":                {over, diff.BypassExpired, false},
	} {
		t.Run(name, func(t *testing.T) {
			part := judged(difftest.Deployment(), nil, nil, march, func(in *diff.Input) {
				aheadAfterProof(customOfZone, live)(in)
				in.State.Accounts[0].Zones[0].Others = []desired.Other{{Kind: desired.Exception, Key: live.Ref, Of: "core"}}
				in.Skips = func(asked diff.SkipAsked) diff.DeclaredSkip {
					if asked.Rule.ID != live.ID || asked.At != customOfZone || asked.Deployed("core").Execute != difftest.Rule {
						t.Errorf("asked %+v", asked)
					}
					return c.said
				}
			})
			b := part.Bypasses[0]
			if len(part.Bypasses) != 1 || b.State != c.state || b.NeedsPerson() != c.person || (len(part.Problems) > 0) != c.person {
				t.Errorf("%+v, problems %+v", part.Bypasses, part.Problems)
			}
			if corrects := c.said.Kind != "" && !c.said.Agrees; corrects != b.Corrected() || corrects != (b.Otherwise != nil) {
				t.Errorf("it is corrected by %+v, else %+v", b.Heals, b.Otherwise)
			}
		})
	}
}
