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

	mu     sync.Mutex
	calls  []string
	parent *Recorder // that has the list; nil for this one
}

// Record returns a recorder in front of p.
func Record(p Platform) *Recorder { return &Recorder{platform: p} }

// Calls returns the calls so far, each as method and path of the reference.
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

func (r *Recorder) note(call string) {
	if r.parent != nil {
		r.parent.note(call)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

// Rulesets notes the call and passes it on.
func (r *Recorder) Rulesets(ctx context.Context, scope Scope) ([]Ruleset, error) {
	r.note("GET " + RulesetsPath(scope))
	return r.platform.Rulesets(ctx, scope)
}

// Ruleset notes the call and passes it on.
func (r *Recorder) Ruleset(ctx context.Context, scope Scope, id RulesetID) (Ruleset, error) {
	r.note("GET " + RulesetPath(scope, id))
	return r.platform.Ruleset(ctx, scope, id)
}

// EntryPoint notes the call and passes it on.
func (r *Recorder) EntryPoint(ctx context.Context, scope Scope, phase Phase) (Ruleset, error) {
	r.note("GET " + EntryPointPath(scope, phase))
	return r.platform.EntryPoint(ctx, scope, phase)
}

// UpdateRule notes the call and passes it on.
func (r *Recorder) UpdateRule(ctx context.Context, scope Scope, entryPoint RulesetID, rule RuleID, body Rule) (*Ruleset, error) {
	r.note("PATCH " + RulePath(scope, entryPoint, rule))
	return r.platform.UpdateRule(ctx, scope, entryPoint, rule, body)
}
