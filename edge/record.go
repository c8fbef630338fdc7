package edge

import (
	"context"
	"slices"
	"sync"
)

// Recorder is a [Platform] that remembers the calls made through it, in the
// order in which they were made. It is safe for concurrent use.
type Recorder struct {
	platform Platform

	mu    sync.Mutex
	calls []string
}

// Record returns a recorder in front of p.
func Record(p Platform) *Recorder { return &Recorder{platform: p} }

// Calls returns the calls so far, each as method and path. One that is only tried has
// "?dry_run=true" at its end.
func (r *Recorder) Calls() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// Reset forgets the calls so far.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = nil
}

// noted notes a call, and returns what it is passed on to.
func (r *Recorder) noted(call string) Platform {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
	return r.platform
}

// Offers asks the platform, which is no call.
func (r *Recorder) Offers(call Call, level Level) bool { return r.platform.Offers(call, level) }

// Rulesets notes the call and passes it on; so do the others.
func (r *Recorder) Rulesets(ctx context.Context, scope Scope) ([]Ruleset, error) {
	return r.noted("GET "+RulesetsPath(scope)).Rulesets(ctx, scope)
}

// Ruleset implements [Reader].
func (r *Recorder) Ruleset(ctx context.Context, scope Scope, id RulesetID) (Ruleset, error) {
	return r.noted("GET "+RulesetPath(scope, id)).Ruleset(ctx, scope, id)
}

// RulesetVersion implements [Reader].
func (r *Recorder) RulesetVersion(ctx context.Context, scope Scope, id RulesetID, version string) (Ruleset, error) {
	return r.noted("GET "+VersionPath(scope, id, version)).RulesetVersion(ctx, scope, id, version)
}

// EntryPoint implements [Reader].
func (r *Recorder) EntryPoint(ctx context.Context, scope Scope, phase Phase) (Ruleset, error) {
	return r.noted("GET "+EntryPointPath(scope, phase)).EntryPoint(ctx, scope, phase)
}

// Zones implements [Directory].
func (r *Recorder) Zones(ctx context.Context, filter ZoneFilter) ([]Zone, error) {
	return r.noted("GET "+ZonesPath()).Zones(ctx, filter)
}

// Zone implements [Directory].
func (r *Recorder) Zone(ctx context.Context, id ZoneID) (Zone, error) {
	return r.noted("GET "+ZonePath(id)).Zone(ctx, id)
}

// Accounts implements [Directory].
func (r *Recorder) Accounts(ctx context.Context) ([]Account, error) {
	return r.noted("GET " + AccountsPath()).Accounts(ctx)
}

// Send implements [Writer].
func (r *Recorder) Send(ctx context.Context, write Write) (*Ruleset, error) {
	return r.noted(write.String()).Send(ctx, write)
}

// Try implements [DryRunner].
func (r *Recorder) Try(ctx context.Context, write Write) error {
	return r.noted(write.String()+"?dry_run=true").Try(ctx, write)
}
