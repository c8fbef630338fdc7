//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
)

const (
	// zonesPerFolder is how wide one folder of the repository is.
	zonesPerFolder = 50
	// lowest is the lowest threshold that is declared at first; drifted is one that no commit asks for.
	lowest, drifted = 20, 1000
)

// account is one of the platform, with the credential for its zones.
type account struct {
	key    string
	id     edge.AccountID
	secret string
	first  int // of its zones
	last   int
}

// fleet is what the newest commit declares. Zones count from 1.
type fleet struct {
	accounts []account

	mu     sync.Mutex
	scores []int           // by zone; the first is no zone's
	tokens map[string]bool // declared, by key: whether it rotates
}

func newFleet(zones, accounts int) *fleet {
	f := &fleet{scores: make([]int, zones+1), tokens: map[string]bool{}}
	for i := range f.scores {
		f.scores[i] = lowest + i%30
	}
	for n := range accounts {
		f.accounts = append(f.accounts, account{
			key: fmt.Sprintf("a%d", n+1), id: edge.AccountID(fmt.Sprintf("acc0%028d", n+1)), secret: fmt.Sprintf("sim-key-of-account-%d-0000000000000000", n+1),
			first: n*zones/accounts + 1, last: (n + 1) * zones / accounts,
		})
	}
	return f
}

func (f *fleet) size() int { return len(f.scores) - 1 }

// owner is the account of a zone.
func (f *fleet) owner(zone int) account {
	for _, a := range f.accounts {
		if zone <= a.last {
			return a
		}
	}
	panic("there is no such zone")
}

// seed is the platform at the beginning: every zone without overrides.
func (f *fleet) seed() mem.Seed {
	seed := mem.Fleet(f.size())
	rulesets := seed.Accounts[0].Rulesets
	seed.Accounts = nil
	for i, a := range f.accounts {
		seed.Accounts = append(seed.Accounts, mem.SeedAccount{ID: a.id, Rulesets: rulesets})
		seed.Tokens = append(seed.Tokens, mem.SeedToken{
			ID: fmt.Sprintf("70ce1%027d", i+1), Name: a.key, Value: a.secret, Status: "active", Policies: json.RawMessage(rulesPolicy),
		})
		for zone := a.first; zone <= a.last; zone++ {
			seed.Zones[zone-1].AccountID = a.id
		}
	}
	return seed
}

const rulesPolicy = `[{"effect": "allow", "resources": {"com.vendor.api.account.zone.*": "*"}, "permission_groups": [{"id": "` + mem.RulesGroup + `"}]}]`

// files are the whole repository.
func (f *fleet) files() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	base := "package edge\n\n"
	for _, a := range f.accounts {
		base += fmt.Sprintf("account: %s: {id: %q, ruleset: core: name: \"Core Ruleset\"}\n", a.key, a.id)
	}
	files := map[string]string{
		"cue.mod/module.cue": "module: \"edge.example/fleet\"\nlanguage: version: \"v0.16.0\"\n",
		"base.cue":           base,
		"tokens/tokens.cue":  f.tokensFile(),
	}
	for _, a := range f.accounts {
		for zone := a.first; zone <= a.last; zone += zonesPerFolder {
			name, text := f.folder(zone)
			files[name] = text
		}
	}
	return files
}

// folder is the file that declares a zone and its neighbours. The caller holds the lock.
func (f *fleet) folder(zone int) (name, text string) {
	a := f.owner(zone)
	n := (zone - a.first) / zonesPerFolder
	var b strings.Builder
	fmt.Fprintf(&b, "package edge\n\naccount: %s: zone: {\n", a.key)
	for i := a.first + n*zonesPerFolder; i <= min(a.first+(n+1)*zonesPerFolder-1, a.last); i++ {
		fmt.Fprintf(&b, "\t\"zone-%05d.example\": {id: %q, waf: core: {%s}}\n", i, mem.FleetZone(i).ID, harness.Block(f.scores[i]))
	}
	return fmt.Sprintf("%s/team-%03d/zones.cue", a.key, n), b.String() + "}\n"
}

// tokensFile declares the tokens. The caller holds the lock.
func (f *fleet) tokensFile() string {
	text := harness.DeclareTokens(slices.Sorted(maps.Keys(f.tokens))...)
	for _, key := range slices.Sorted(maps.Keys(f.tokens)) {
		if f.tokens[key] {
			text += fmt.Sprintf("token: %q: rotate: {every: \"720h\", overlap: \"48h\"}\n", key)
		}
	}
	return text
}

// want is what a zone should have.
func (f *fleet) want(zone int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.scores[zone]
}

// change takes over other thresholds, and returns the files that say so.
func (f *fleet) change(scores map[int]int) map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	files := map[string]string{}
	for zone, score := range scores {
		f.scores[zone] = score
	}
	for zone := range scores {
		name, text := f.folder(zone)
		files[name] = text
	}
	return files
}

// declare takes over one more token.
func (f *fleet) declare(key string, rotates bool) map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens[key] = rotates
	return map[string]string{"tokens/tokens.cue": f.tokensFile()}
}

// rotating are the declared tokens that rotate.
func (f *fleet) rotating() (keys []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(f.tokens)) {
		if f.tokens[key] {
			keys = append(keys, key)
		}
	}
	return keys
}

// keys are those of the accounts.
func (f *fleet) keys() (keys []string) {
	for _, a := range f.accounts {
		keys = append(keys, a.key)
	}
	return keys
}
