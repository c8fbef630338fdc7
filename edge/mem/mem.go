// Package mem is the platform in memory: its rules as a state machine, without
// a network. It is the twin of edge/client: both are an [edge.Platform] and an
// [edge.Tokens], and edge/edgetest holds them to the same behaviour.
// edge/sim puts HTTP in front, and there what a token may do counts.
//
//	platform, err := mem.New(mem.Config{}) // the seed of DefaultSeed
//	entry, err := platform.EntryPoint(ctx, mem.ShopZone, edge.PhaseFirewallManaged)
//
// With the profile "documented" it says of every call that the reference does not show
// that the platform does not offer it. With the profile "vendor" it refuses what the real
// service has been seen to refuse.
//
// A platform begins as a [Seed], which is plain data with a JSON form, and can
// be turned back into one at any time with [Platform.State]. What a person does
// in a dashboard is imitated by [Platform.SetEntryPoint] and
// [Platform.SetRuleset]: they plant drift.
//
// How the real service behaves where its reference is silent is not known in
// every point. Such behaviours are quirks, each with a name ([Quirks]): a
// program is right when it works under every one of them.
//
// Every value that goes in or out is a deep copy. A Platform is safe for
// concurrent use; all calls are serialised, so writes to one ruleset are too.
package mem

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// Config says how a platform begins. The zero value is a platform with
// [DefaultSeed], no quirks and a clock that is the same in every run.
type Config struct {
	Seed   Seed             // zero: SeedFor(Profile)
	Quirks []string         // NAME or NAME=VALUE of [Quirks]; nil: none
	Now    func() time.Time // what last_updated is taken from; nil: the year 2025, a second later at every look
	// Profile says which calls are offered, and how strict the platform is:
	// [Documented] (also when empty), [Extended] or [Vendor].
	Profile string
}

// The profiles.
const (
	Documented = "documented" // the calls of the reference
	Extended   = "extended"   // the calls of the contract that are known beyond it too
	Vendor     = "vendor"     // the same calls and more, as strict as the real service
)

// Profiles lists the profiles.
func Profiles() []string { return []string{Documented, Extended, Vendor} }

// Platform is the platform in memory. Make one with [New].
type Platform struct {
	RulesetCalls
	TokenCalls // of the calling user

	now      func() time.Time
	profile  string
	extended bool // the profile has more than the reference
	checks   checks

	mu           sync.Mutex
	state        Seed
	accountAt    map[edge.AccountID]int // index into state.Accounts
	zoneAt       map[edge.ZoneID]int    // index into state.Zones
	permissions  map[string]string      // see Permission
	behaviour    behaviour
	managedReads int // for ruleset-bump: reads of managed rulesets since the quirk was set
}

var _ edge.Platform = (*Platform)(nil)

// New returns a platform in the state of the seed. It fails on a seed that is
// not consistent ([Seed.Check]) and on an unknown quirk or profile.
func New(config Config) (*Platform, error) {
	profile := cmp.Or(config.Profile, Documented)
	if !slices.Contains(Profiles(), profile) {
		return nil, fmt.Errorf("profile %q is not one of %s", profile, strings.Join(Profiles(), ", "))
	}
	seed := config.Seed
	if seed.IsZero() {
		seed = SeedFor(profile)
	}
	if err := seed.Check(); err != nil {
		return nil, fmt.Errorf("reading the seed: %w", err)
	}
	b, err := parseBehaviour(config.Quirks)
	if err != nil {
		return nil, err
	}
	p := &Platform{now: config.Now, profile: profile, extended: profile != Documented, behaviour: b}
	p.checks, p.RulesetCalls, p.TokenCalls = checks{p}, RulesetCalls{p}, TokenCalls{p: p}
	if p.now == nil {
		p.now = steps()
	}
	p.load(seed)
	return p, nil
}

// load makes the seed the state, completed by what the platform would have
// written itself.
func (p *Platform) load(seed Seed) {
	p.state = clone(seed)
	p.permissions = permissions(seed.EndpointPermissions)
	now := p.timestamp()
	p.accountAt, p.zoneAt = map[edge.AccountID]int{}, map[edge.ZoneID]int{}
	for i := range p.state.Accounts {
		account := &p.state.Accounts[i]
		p.accountAt[account.ID] = i
		for j := range account.Rulesets {
			complete(&account.Rulesets[j], edge.KindManaged, now)
		}
	}
	for i := range p.state.Zones {
		zone := &p.state.Zones[i]
		p.zoneAt[zone.ID] = i
		if zone.EntryPoint != nil {
			complete(zone.EntryPoint, edge.KindZone, now)
		}
		for j := range zone.Rulesets {
			complete(&zone.Rulesets[j], edge.KindZone, now)
		}
	}
}

// Offers is true for the calls of the profile.
func (p *Platform) Offers(call edge.Call, level edge.Level) bool {
	return p.extended || edge.InReference(call, level)
}

// State returns the whole state as a seed: a platform made from it is equal to
// this one. Quirks do not touch it; it is the truth behind the answers.
func (p *Platform) State() Seed {
	p.mu.Lock()
	defer p.mu.Unlock()
	return clone(p.state)
}

// timestampLayout has fractional seconds and "Z" (reference, "Ruleset").
const timestampLayout = "2006-01-02T15:04:05.000000Z"

func (p *Platform) timestamp() string { return p.now().UTC().Format(timestampLayout) }

// steps is a clock that moves by being looked at. Calls must be serialised.
func steps() func() time.Time {
	at := time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		at = at.Add(time.Second)
		return at
	}
}

// zone and account return the live record, nil when there is none. The caller
// holds the lock.
func (p *Platform) zone(id edge.ZoneID) *SeedZone {
	if i, ok := p.zoneAt[id]; ok {
		return &p.state.Zones[i]
	}
	return nil
}

func (p *Platform) account(id edge.AccountID) *SeedAccount {
	if i, ok := p.accountAt[id]; ok {
		return &p.state.Accounts[i]
	}
	return nil
}
