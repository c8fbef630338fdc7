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

func (r extendedRecorder) ZoneRulesets(ctx context.Context, zone ZoneID) ([]Ruleset, error) {
	r.note("GET " + ZoneRulesetsPath(zone))
	return r.platform.ZoneRulesets(ctx, zone)
}

func (r extendedRecorder) ZoneRuleset(ctx context.Context, zone ZoneID, id RulesetID) (Ruleset, error) {
	r.note("GET " + ZoneRulesetPath(zone, id))
	return r.platform.ZoneRuleset(ctx, zone, id)
}

func (r extendedRecorder) AccountRulesetVersion(ctx context.Context, account AccountID, id RulesetID, version string) (Ruleset, error) {
	r.note("GET " + VersionPath(AccountRulesetPath(account, id), version))
	return r.platform.AccountRulesetVersion(ctx, account, id, version)
}

func (r extendedRecorder) ZoneRulesetVersion(ctx context.Context, zone ZoneID, id RulesetID, version string) (Ruleset, error) {
	r.note("GET " + VersionPath(ZoneRulesetPath(zone, id), version))
	return r.platform.ZoneRulesetVersion(ctx, zone, id, version)
}

func (r extendedRecorder) CreateEntryPoint(ctx context.Context, zone ZoneID, rules []Rule) (*Ruleset, error) {
	r.note("POST " + ZoneRulesetsPath(zone))
	return r.platform.CreateEntryPoint(ctx, zone, rules)
}

func (r extendedRecorder) AddRule(ctx context.Context, zone ZoneID, entryPoint RulesetID, body Rule) (*Ruleset, error) {
	r.note("POST " + RulesPath(zone, entryPoint))
	return r.platform.AddRule(ctx, zone, entryPoint, body)
}

func (r extendedRecorder) DeleteRule(ctx context.Context, zone ZoneID, entryPoint RulesetID, rule RuleID) (*Ruleset, error) {
	r.note("DELETE " + RulePath(zone, entryPoint, rule))
	return r.platform.DeleteRule(ctx, zone, entryPoint, rule)
}

const dry = "?dry_run=true"

func (r extendedRecorder) TryUpdateRule(ctx context.Context, zone ZoneID, entryPoint RulesetID, rule RuleID, body Rule) error {
	r.note("PATCH " + RulePath(zone, entryPoint, rule) + dry)
	return r.platform.TryUpdateRule(ctx, zone, entryPoint, rule, body)
}

func (r extendedRecorder) TryCreateEntryPoint(ctx context.Context, zone ZoneID, rules []Rule) error {
	r.note("POST " + ZoneRulesetsPath(zone) + dry)
	return r.platform.TryCreateEntryPoint(ctx, zone, rules)
}

func (r extendedRecorder) TryAddRule(ctx context.Context, zone ZoneID, entryPoint RulesetID, body Rule) error {
	r.note("POST " + RulesPath(zone, entryPoint) + dry)
	return r.platform.TryAddRule(ctx, zone, entryPoint, body)
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
