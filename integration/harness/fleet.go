package harness

import (
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
)

// Fleet is a platform with n zones, all alike, and no rate limit.
func Fleet(n int) sim.Config {
	return sim.Config{Seed: mem.Fleet(n), RateLimit: sim.RateLimit{Off: true}}
}

// Tree is a repository that declares zones 1 to Zones of a [mem.Fleet], in folders. Each folder is of
// one account; 0 accounts are one.
type Tree struct {
	Zones, PerFolder, Accounts int
	Deployment                 func(zone int) string // the members of a zone's waf: core
}

// Account is one of those that the zones of a [Tree] are dealt to, folder by folder, with a credential
// of its own where there are several.
type Account struct {
	Key    string
	ID     edge.AccountID
	Secret string
}

// EachAccount are all of them.
func (t Tree) EachAccount() []Account {
	all := []Account{{Key: "prod", ID: mem.Account, Secret: mem.RulesetsTokenValue}}
	for n := 2; n <= t.Accounts; n++ {
		all = append(all, Account{
			Key: fmt.Sprintf("prod-%d", n), ID: edge.AccountID(fmt.Sprintf("acc0%028d", n)), Secret: fmt.Sprintf("sim-key-of-account-%d-0000000000000000", n),
		})
	}
	return all
}

// accountOf is the place in EachAccount of the account of a zone.
func (t Tree) accountOf(zone int) int { return (zone - 1) / t.PerFolder % max(1, t.Accounts) }

// Platform is a [Fleet] with the accounts of the tree.
func (t Tree) Platform() sim.Config {
	config, accounts := Fleet(t.Zones), t.EachAccount()
	seed := &config.Seed
	for i, a := range accounts[1:] {
		seed.Accounts = append(seed.Accounts, mem.SeedAccount{ID: a.ID, Rulesets: seed.Accounts[0].Rulesets})
		seed.Tokens = append(seed.Tokens, mem.SeedToken{
			ID: fmt.Sprintf("70ce1%027d", i+1), Name: a.Key, Value: a.Secret, Status: "active", Policies: seed.Tokens[0].Policies,
		})
	}
	for i := range seed.Zones {
		seed.Zones[i].AccountID = accounts[t.accountOf(i+1)].ID
	}
	return config
}

// Files are the whole repository.
func (t Tree) Files() map[string]string {
	files := map[string]string{
		"cue.mod/module.cue": "module: \"edge.example/fleet\"\nlanguage: version: \"v0.16.0\"\n",
		"base.cue":           "package edge\n",
	}
	for _, a := range t.EachAccount() {
		files["base.cue"] += fmt.Sprintf("\naccount: %q: {\n%s}\n", a.Key, account(a.ID))
	}
	for zone := 1; zone <= t.Zones; zone += t.PerFolder {
		name, text := t.Folder(zone)
		files[name] = text
	}
	return files
}

// Folder is the file that declares a zone and its neighbours.
func (t Tree) Folder(zone int) (name, text string) {
	n := (zone - 1) / t.PerFolder
	text = fmt.Sprintf("package edge\n\naccount: %q: zone: {\n", t.EachAccount()[t.accountOf(zone)].Key)
	for i := n*t.PerFolder + 1; i <= min((n+1)*t.PerFolder, t.Zones); i++ {
		text += "\t" + declaration(i, t.Deployment(i))
	}
	return fmt.Sprintf("team-%03d/zones.cue", n), text + "}\n"
}

// TunedTree declares deployments with paranoia, a threshold and a tag that is off, no two
// neighbours alike, with thresholds from the lowest on.
func TunedTree(zones, perFolder, lowest int) Tree {
	return Tree{Zones: zones, PerFolder: perFolder, Deployment: func(i int) string {
		return fmt.Sprintf("{paranoia: %d, %s, disable: tags: [\"wordpress\"]}", i%4+1, Block(lowest+i%40))
	}}
}

// Block is a deployment with this threshold, at which it blocks.
func Block(threshold int) string {
	return fmt.Sprintf("threshold: {score: %d, action: \"block\"}", threshold)
}

func account(id edge.AccountID) string {
	return fmt.Sprintf("\tid: %q\n\truleset: core: name: \"Core Ruleset\"\n", id)
}

func declaration(zone int, deployment string) string {
	return fmt.Sprintf("\"zone-%05d.example\": {id: %q, waf: core: %s}\n", zone, mem.FleetZone(zone), deployment)
}

// Declare writes desired state for zones 1 to n of a mem.Fleet, all with one
// threshold. The file is to stand at the top of a tree.
func Declare(n, threshold int) string {
	return DeclareEach(n, func(int) int { return threshold })
}

// DeclareEach is declare with a threshold for each zone.
func DeclareEach(n int, threshold func(i int) int) string {
	var b strings.Builder
	b.WriteString("package edge\n\naccount: prod: {\n" + account(mem.Account))
	for i := 1; i <= n; i++ {
		b.WriteString("\tzone: " + declaration(i, Block(threshold(i))))
	}
	return b.String() + "}\n"
}

// DeclareTokens writes desired state with a token for each key, which goes to the sink ci.
func DeclareTokens(keys ...string) string {
	var b strings.Builder
	b.WriteString("package edge\n\n")
	for _, key := range keys {
		fmt.Fprintf(&b, "token: %q: {policies: [{effect: \"allow\", resources: %q: \"*\", permission_groups: [{id: %q}]}], sink: {name: \"ci\", key: %q}}\n",
			key, edge.ResourceAllZones, mem.RulesGroup, key)
	}
	return b.String()
}
