package controller

import (
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// author is the tree of the author of commits, as it is about to be pushed.
type author struct {
	zones    []authored
	accounts [2]string // keys
	ruleset  string    // key
	token    desired.Token
	renamed  int
	padded   int
	goldPads bool
}

// authored is what the author declares of a zone of the platform.
type authored struct {
	id       edge.Scope
	key      string
	gold     bool
	off      []string
	disabled bool
	bare     bool // without a deployment
	gone     bool // not declared
}

func newAuthor() *author {
	a := &author{accounts: [2]string{"a", "b"}, ruleset: "core", token: declareToken("ci")}
	for i := 1; i <= lawZones; i++ {
		a.zones = append(a.zones, authored{id: mem.FleetZone(i), key: zoneKey(i), gold: i%2 == 0})
	}
	return a
}

// edit is one edit of the tree.
func (a *author) edit(s lawStep) {
	each := func(change func(z *authored)) {
		for _, i := range s.Zones {
			change(&a.zones[i-1])
		}
	}
	a.renamed++
	switch s.Do {
	case "weaken":
		each(func(z *authored) { z.off = s.Tags })
	case "strengthen":
		each(func(z *authored) { z.off = nil })
	case "disable", "enable":
		each(func(z *authored) { z.disabled = s.Do == "disable" })
	case "label", "unlabel":
		each(func(z *authored) { z.gold = s.Do == "label" })
	case "rename zones":
		each(func(z *authored) { z.key = fmt.Sprintf("renamed-%d-%s", a.renamed, z.id) })
	case "remove", "return":
		each(func(z *authored) { z.gone = s.Do == "remove" })
	case "undeploy", "deploy":
		each(func(z *authored) { z.bare = s.Do == "undeploy" })
	case "rename account":
		a.accounts[s.N%2] = fmt.Sprintf("renamed-%d", a.renamed)
	case "rename ruleset":
		a.ruleset = fmt.Sprintf("renamed-%d", a.renamed)
	case "pad", "pad gold":
		a.padded, a.goldPads = s.N, s.Do == "pad gold"
	case "unpad":
		a.padded = 0
	default:
		a.editToken(s)
	}
}

func (a *author) editToken(s lawStep) {
	switch s.Do {
	case "widen token":
		groups := [][]string{{mem.ZoneLogsGroup}, {mem.ZoneLogsGroup, mem.RulesGroup}, {mem.RulesGroup}}[s.N%3]
		var refs []desired.PermissionGroup
		for _, group := range groups {
			refs = append(refs, desired.PermissionGroup{ID: group})
		}
		a.token.Policies = []desired.Policy{a.token.Policies[0]}
		a.token.Policies[0].PermissionGroups = refs
	case "rotate token":
		a.token.Rotate = nil
		if s.N%4 > 0 {
			a.token.Rotate = &desired.Rotate{Every: lawInterval / 2, Overlap: time.Duration(s.N%4) * lawInterval / 6}
		}
	case "move sink":
		a.token.Sink = &desired.Sink{Name: "ci", Key: fmt.Sprintf("elsewhere-%d", s.N%3)}
	case "rename token":
		a.token.Key, a.token.Name = fmt.Sprintf("ci-%d", s.N%3), fmt.Sprintf("ci-%d", s.N%3)
		a.token.Sink = &desired.Sink{Name: "ci", Key: a.token.Key}
	}
}

// state is what the tree declares.
func (a *author) state(commit string) desired.State {
	state := desired.State{Commit: commit, Tokens: []desired.Token{a.token}}
	for i, id := range []edge.AccountID{mem.Account, accountB} {
		account := desired.Account{Key: a.accounts[i], ID: id, Rulesets: []desired.RulesetRef{{Key: a.ruleset, Name: "Core Ruleset"}}}
		for _, z := range a.zones[i*lawZones/2 : (i+1)*lawZones/2] {
			if !z.gone {
				account.Zones = append(account.Zones, a.declare(z))
			}
		}
		for n := range a.padded {
			if n%2 == i {
				pad := authored{id: edge.ZoneScope(edge.ZoneID(fmt.Sprintf("dead%028d", n))), key: fmt.Sprintf("pad-%d.example", n), gold: a.goldPads}
				account.Zones = append(account.Zones, a.declare(pad))
			}
		}
		state.Accounts = append(state.Accounts, account)
	}
	return state
}

func (a *author) declare(z authored) desired.Zone {
	d := desired.Zone{Key: z.key, Scope: z.id, Labels: map[string]string{"tier": map[bool]string{true: "gold", false: "plain"}[z.gold]}}
	if !z.bare {
		one := core(z.off...)
		one.Ruleset, one.Enabled.Value, one.Deploy, one.Prune = a.ruleset, !z.disabled, true, true
		d.Deployments = []desired.Deployment{one}
	}
	return d
}

// weak is what is declared to be weak.
func (z authored) weak() weak {
	switch {
	case z.bare:
		return weakest
	case z.disabled:
		return weakest.beyond(weak{"absent": true})
	}
	w := weak{}
	for _, tag := range z.off {
		w[tag] = true
	}
	return w
}

// rights are those of the declared token.
func (a *author) rights() (r tokenRights) {
	for _, group := range a.token.Policies[0].PermissionGroups {
		r.groups = append(r.groups, group.ID)
	}
	if r.sink = *a.token.Sink; a.token.Rotate != nil {
		r.lifetime = a.token.Rotate.Lifetime()
	}
	return r
}
