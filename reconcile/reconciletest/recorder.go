package reconciletest

import (
	"context"
	"slices"
	"sync"

	"github.com/seawall-dev/seawall/edge"
)

// Recorder is a [edge.Platform] that remembers the calls made through it, in the
// order in which they were made. It is safe for concurrent use.
type Recorder struct {
	platform edge.Platform

	mu    sync.Mutex
	calls []string
}

// Record returns a recorder in front of p.
func Record(p edge.Platform) *Recorder { return &Recorder{platform: p} }

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
func (r *Recorder) noted(call string) edge.Platform {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
	return r.platform
}

// Offers asks the platform, which is no call.
func (r *Recorder) Offers(call edge.Call, level edge.Level) bool {
	return r.platform.Offers(call, level)
}

// Rulesets notes the call and passes it on; so do the others.
func (r *Recorder) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	return r.noted("GET "+edge.RulesetsPath(scope)).Rulesets(ctx, scope)
}

// Ruleset implements [edge.Reader].
func (r *Recorder) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	return r.noted("GET "+edge.RulesetPath(scope, id)).Ruleset(ctx, scope, id)
}

// RulesetVersion implements [edge.Reader].
func (r *Recorder) RulesetVersion(ctx context.Context, scope edge.Scope, id edge.RulesetID, version string) (edge.Ruleset, error) {
	return r.noted("GET "+edge.VersionPath(scope, id, version)).RulesetVersion(ctx, scope, id, version)
}

// EntryPoint implements [edge.Reader].
func (r *Recorder) EntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	return r.noted("GET "+edge.EntryPointPath(scope, phase)).EntryPoint(ctx, scope, phase)
}

// Zones implements [edge.Directory].
func (r *Recorder) Zones(ctx context.Context, filter edge.ZoneFilter) ([]edge.Zone, error) {
	return r.noted("GET "+edge.ZonesPath()).Zones(ctx, filter)
}

// Zone implements [edge.Directory].
func (r *Recorder) Zone(ctx context.Context, id edge.ZoneID) (edge.Zone, error) {
	return r.noted("GET "+edge.ZonePath(id)).Zone(ctx, id)
}

// Accounts implements [edge.Directory].
func (r *Recorder) Accounts(ctx context.Context) ([]edge.Account, error) {
	return r.noted("GET " + edge.AccountsPath()).Accounts(ctx)
}

// Send implements [edge.Writer].
func (r *Recorder) Send(ctx context.Context, write edge.Write) (*edge.Ruleset, error) {
	return r.noted(write.String()).Send(ctx, write)
}

// Try implements [edge.DryRunner].
func (r *Recorder) Try(ctx context.Context, write edge.Write) error {
	return r.noted(write.String()+"?dry_run=true").Try(ctx, write)
}
