package edge

import "context"

// Extended returns a recorder in front of p, whose calls are in the same list as
// those of r. A call that is only tried has "?dry_run=true" at its end.
func (r *Recorder) Extended(p ExtendedPlatform) ExtendedPlatform {
	return extendedRecorder{&Recorder{platform: p, parent: r}, p}
}

type extendedRecorder struct {
	*Recorder
	platform ExtendedPlatform
}

func (r extendedRecorder) RulesetVersion(ctx context.Context, scope Scope, id RulesetID, version string) (Ruleset, error) {
	r.note("GET " + VersionPath(scope, id, version))
	return r.platform.RulesetVersion(ctx, scope, id, version)
}

func (r extendedRecorder) CreateEntryPoint(ctx context.Context, scope Scope, phase Phase, rules []Rule) (*Ruleset, error) {
	r.note("POST " + RulesetsPath(scope))
	return r.platform.CreateEntryPoint(ctx, scope, phase, rules)
}

func (r extendedRecorder) AddRule(ctx context.Context, scope Scope, entryPoint RulesetID, body Rule) (*Ruleset, error) {
	r.note("POST " + RulesPath(scope, entryPoint))
	return r.platform.AddRule(ctx, scope, entryPoint, body)
}

func (r extendedRecorder) DeleteRule(ctx context.Context, scope Scope, entryPoint RulesetID, rule RuleID) (*Ruleset, error) {
	r.note("DELETE " + RulePath(scope, entryPoint, rule))
	return r.platform.DeleteRule(ctx, scope, entryPoint, rule)
}

const dry = "?dry_run=true"

func (r extendedRecorder) TryUpdateRule(ctx context.Context, scope Scope, entryPoint RulesetID, rule RuleID, body Rule) error {
	r.note("PATCH " + RulePath(scope, entryPoint, rule) + dry)
	return r.platform.TryUpdateRule(ctx, scope, entryPoint, rule, body)
}

func (r extendedRecorder) TryCreateEntryPoint(ctx context.Context, scope Scope, phase Phase, rules []Rule) error {
	r.note("POST " + RulesetsPath(scope) + dry)
	return r.platform.TryCreateEntryPoint(ctx, scope, phase, rules)
}

func (r extendedRecorder) TryAddRule(ctx context.Context, scope Scope, entryPoint RulesetID, body Rule) error {
	r.note("POST " + RulesPath(scope, entryPoint) + dry)
	return r.platform.TryAddRule(ctx, scope, entryPoint, body)
}

func (r extendedRecorder) Zones(ctx context.Context, filter ZoneFilter) ([]Zone, error) {
	r.note("GET " + ZonesPath())
	return r.platform.Zones(ctx, filter)
}

func (r extendedRecorder) Zone(ctx context.Context, id ZoneID) (Zone, error) {
	r.note("GET " + ZonePath(id))
	return r.platform.Zone(ctx, id)
}

func (r extendedRecorder) Accounts(ctx context.Context) ([]Account, error) {
	r.note("GET " + AccountsPath())
	return r.platform.Accounts(ctx)
}
