package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// guardOracle knows what is so on the platform, and what people have agreed to.
type guardOracle struct {
	guard    string
	platform *mem.Platform
	commit   func() string // in force

	mu     sync.Mutex
	wrong  []string
	pushes map[string]pushed
	last   string              // the commit in force when it was asked last
	gold   map[edge.Scope]bool // in a commit that was in force
	floor  map[edge.Scope]weak // what may be weak there: it was so before, or was agreed to
	agreed map[edge.Scope][]weak
	// weakened and removed are the zones that were, without an approval, under the commit
	// in force.
	weakened, removed map[edge.Scope]bool
	before            int // deployments that the commit before it declared
	tokens            map[string]tokenRights
	agreedTokens      map[string][]tokenRights
	sunk              map[desired.Sink]bool // has a secret
}

// pushed is what counts of a commit.
type pushed struct {
	gold        map[edge.Scope]bool
	zones       map[edge.Scope]weak // what is declared to be weak
	deployments int
	token       tokenRights
}

// weak are the parts of a deployment that do not protect: tags that are off, and all of it
// where the rule is off or absent.
type weak map[string]bool

var weakest = weak{"absent": true, "disabled": true, "rce": true, "wordpress": true, "xss": true, "php": true, "sqli": true}

func (w weak) String() string { return strings.Join(slices.Sorted(maps.Keys(w)), ",") }

// beyond is what is weak and not in others.
func (w weak) beyond(others ...weak) weak {
	more := maps.Clone(w)
	for _, other := range others {
		for part := range other {
			delete(more, part)
		}
	}
	return more
}

// tokenRights is what a token may do, for how long, and who gets it.
type tokenRights struct {
	groups   []string
	lifetime time.Duration // zero: it does not end
	sink     desired.Sink  // where the secret of a declared token goes
}

// within reports whether it may do no more than another.
func (r tokenRights) within(other tokenRights) bool {
	for _, group := range r.groups {
		if !slices.Contains(other.groups, group) {
			return false
		}
	}
	return other.lifetime == 0 || r.lifetime != 0 && r.lifetime <= other.lifetime
}

func newGuardOracle(guard string, platform *mem.Platform) *guardOracle {
	return &guardOracle{
		guard: guard, platform: platform, pushes: map[string]pushed{}, gold: map[edge.Scope]bool{}, floor: map[edge.Scope]weak{},
		agreed: map[edge.Scope][]weak{}, weakened: map[edge.Scope]bool{}, removed: map[edge.Scope]bool{},
		tokens: map[string]tokenRights{}, agreedTokens: map[string][]tokenRights{}, sunk: map[desired.Sink]bool{},
	}
}

func (o *guardOracle) fault(format string, args ...any) {
	o.wrong = append(o.wrong, fmt.Sprintf("under %s: ", o.last)+fmt.Sprintf(format, args...))
}

// pushed notes what a commit declares.
func (o *guardOracle) pushed(commit string, a *author) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := pushed{gold: map[edge.Scope]bool{}, zones: map[edge.Scope]weak{}, token: a.rights()}
	for _, z := range a.zones {
		if z.gone {
			continue
		}
		p.gold[z.id], p.zones[z.id] = z.gold, z.weak()
		if !z.bare {
			p.deployments++
		}
	}
	o.pushes[commit] = p
}

// look takes in which commit is in force; the caller holds the lock.
func (o *guardOracle) look() {
	commit := o.commit()
	if commit == o.last {
		return
	}
	o.before = o.pushes[o.last].deployments
	o.last, o.weakened, o.removed = commit, map[edge.Scope]bool{}, map[edge.Scope]bool{}
	for id, gold := range o.pushes[commit].gold {
		o.gold[id] = o.gold[id] || gold
	}
}

// approved notes what an approval names: a zone, or a token, as a commit declares it.
func (o *guardOracle) approved(commit string, c diff.Change) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.pushes[commit]
	if c.Level() == edge.LevelCredential {
		o.agreedTokens[c.Token] = append(o.agreedTokens[c.Token], p.token)
		return
	}
	o.agreed[c.Scope] = append(o.agreed[c.Scope], p.zones[c.Scope])
}

func weakOf(rule edge.Rule) weak {
	w := weak{}
	if rule.Enabled != nil && !*rule.Enabled {
		w = weakest.beyond(weak{"absent": true})
	}
	for _, tag := range reconciletest.TagsOff(rule) {
		w[tag] = true
	}
	return w
}

// live is what is weak in a zone now.
func (o *guardOracle) live(zone edge.Scope) weak {
	entry, err := o.platform.EntryPoint(context.Background(), zone, edge.PhaseFirewallManaged)
	if err != nil || len(entry.Rules) == 0 {
		return weakest
	}
	return weakOf(entry.Rules[0])
}

// written judges a write that is about to be sent.
func (o *guardOracle) written(zone edge.Scope, after weak) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.look()
	live := o.live(zone)
	agreed := slices.ContainsFunc(o.agreed[zone], func(w weak) bool { return maps.Equal(w, after) })
	switch o.guard {
	case "observe account":
		if number := zoneName(zone); number > fmt.Sprint(lawZones/2) {
			o.fault("zone %s of the observed account is written", number)
		}
	case "observe gold":
		if o.gold[zone] {
			o.fault("the observed zone %s is written", zoneName(zone))
		}
	}
	if more := after.beyond(live, o.floor[zone]); len(more) > 0 && !agreed {
		o.weaker(zone, more)
	}
	if agreed {
		o.floor[zone] = after
		return
	}
	kept := maps.Clone(after)
	maps.Copy(kept, o.floor[zone])
	o.floor[zone] = kept
}

// weaker judges a zone that gets weaker without an approval.
func (o *guardOracle) weaker(zone edge.Scope, more weak) {
	o.weakened[zone] = true
	if more["absent"] {
		o.removed[zone] = true
	}
	name := zoneName(zone)
	switch {
	case o.guard == "approve weakening", o.guard == "approve all":
		o.fault("zone %s gets weaker (%v) without an approval", name, more)
	case (o.guard == "approve gold" || o.guard == "limit gold") && o.gold[zone]:
		o.fault("zone %s was gold and gets weaker (%v) without an approval", name, more)
	case (o.guard == "limit share" || o.guard == "limit changes") && len(o.weakened) > lawZones/4:
		o.fault("%d zones get weaker", len(o.weakened))
	case o.guard == "shrink" && o.before >= 4 && 2*len(o.removed) >= o.before:
		o.fault("%d of %d deployments are removed", len(o.removed), o.before)
	}
}

func rightsOf(spec edge.TokenSpec, lifetime time.Duration) tokenRights {
	r := tokenRights{lifetime: lifetime}
	for _, policy := range spec.Policies {
		for _, group := range policy.PermissionGroups {
			r.groups = append(r.groups, group.ID)
		}
	}
	slices.Sort(r.groups)
	return r
}

// created judges the creation of a token.
func (o *guardOracle) created(spec edge.TokenSpec) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.look()
	lifetime := time.Duration(0)
	if end, err := time.Parse(time.RFC3339, spec.ExpiresOn); err == nil {
		lifetime = time.Until(end)
	}
	rights := rightsOf(spec, lifetime)
	before, known := o.tokens[spec.Name]
	agreed := slices.ContainsFunc(o.agreedTokens[spec.Name], rights.within)
	if asks := o.guard == "approve weakening" || o.guard == "approve all"; asks && !agreed && (!known || !rights.within(before)) {
		o.fault("token %s is created with %v for %v without an approval; before it had %v for %v",
			spec.Name, rights.groups, rights.lifetime, before.groups, before.lifetime)
	}
	o.tokens[spec.Name] = rights
}

// delivered judges where a secret goes.
func (o *guardOracle) delivered(sink desired.Sink) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.look()
	agreed := o.sunk[sink]
	for _, all := range o.agreedTokens {
		agreed = agreed || slices.ContainsFunc(all, func(r tokenRights) bool { return r.sink == sink })
	}
	if (o.guard == "approve weakening" || o.guard == "approve all") && !agreed {
		o.fault("a secret goes to %v without an approval", sink)
	}
	o.sunk[sink] = true
}

// watchedSinks are the sinks, with each delivery shown to the oracle before it.
type watchedSinks struct {
	*tokenWorld
	oracle *guardOracle
}

func (w *watchedSinks) Deliver(ctx context.Context, sink desired.Sink, secret edge.Secret) error {
	w.oracle.delivered(sink)
	return w.tokenWorld.Deliver(ctx, sink, secret)
}

// watched is the platform, with each write shown to the oracle before it is sent.
type watched struct {
	*calls
	oracle *guardOracle
}

func (p *watched) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	left := weakest // by a deletion
	if len(w.Rules) > 0 {
		left = weakOf(w.Rules[0])
	}
	p.oracle.written(w.Scope, left)
	return p.calls.Send(ctx, w)
}

// watchedTokens are the platform's calls on tokens, with each write shown to the oracle.
type watchedTokens struct {
	*mem.Platform
	oracle *guardOracle
}

func (w *watchedTokens) CreateToken(ctx context.Context, spec edge.TokenSpec) (edge.CreatedToken, error) {
	w.oracle.created(spec)
	return w.Platform.CreateToken(ctx, spec)
}

func (w *watchedTokens) UpdateToken(ctx context.Context, id edge.TokenID, body edge.Token) (edge.Token, error) {
	w.oracle.created(body.TokenSpec)
	return w.Platform.UpdateToken(ctx, id, body)
}
