package mem

import (
	"context"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// maxVersions bounds the versions of the past that a ruleset has.
const maxVersions = 20

// remember keeps what a ruleset was before a write, where the platform offers
// versions. The caller holds the lock.
func (p *Platform) remember(r edge.Ruleset) {
	if !p.extended {
		return
	}
	if p.state.RulesetVersions == nil {
		p.state.RulesetVersions = map[edge.RulesetID][]edge.Ruleset{}
	}
	list := append(p.state.RulesetVersions[r.ID], clone(r))
	p.state.RulesetVersions[r.ID] = list[max(0, len(list)-maxVersions):]
}

// versions are all versions of a ruleset, oldest first.
func (p *Platform) versions(live edge.Ruleset) []edge.Ruleset {
	return append(slices.Clone(p.state.RulesetVersions[live.ID]), live)
}

// Versions lists the versions of a ruleset without their rules, oldest first.
func (r Rulesets) Versions(ctx context.Context, id edge.RulesetID) ([]edge.Ruleset, error) {
	_, live, err := r.openRuleset(ctx, "GET "+edge.RulesetPath(r.scope, id)+"/versions", id, false)
	if err != nil {
		return nil, err
	}
	defer r.p.mu.Unlock()
	var list []edge.Ruleset
	for _, version := range r.p.versions(*live) {
		list = append(list, summary(version))
	}
	return list, nil
}

// Version returns one version of a ruleset with its rules.
func (r Rulesets) Version(ctx context.Context, id edge.RulesetID, version string) (edge.Ruleset, error) {
	call := "GET " + edge.RulesetPath(r.scope, id) + "/versions/" + version
	_, live, err := r.openRuleset(ctx, call, id, false)
	if err != nil {
		return edge.Ruleset{}, err
	}
	defer r.p.mu.Unlock()
	all := r.p.versions(*live)
	i := slices.IndexFunc(all, func(r edge.Ruleset) bool { return r.Version == version })
	if i < 0 {
		return edge.Ruleset{}, notFound(call, "version", version)
	}
	return r.p.behaviour.answer(all[i]), nil
}

// DeleteVersion deletes a version of the past.
func (r Rulesets) DeleteVersion(ctx context.Context, id edge.RulesetID, version string) error {
	call := "DELETE " + edge.RulesetPath(r.scope, id) + "/versions/" + version
	_, live, err := r.openRuleset(ctx, call, id, true)
	if err != nil {
		return err
	}
	defer r.p.mu.Unlock()
	if live.Version == version {
		return invalid(call, []edge.ErrorDetail{problem(0, "", "the latest version cannot be deleted")})
	}
	past := r.p.state.RulesetVersions[id]
	i := slices.IndexFunc(past, func(r edge.Ruleset) bool { return r.Version == version })
	if i < 0 {
		return notFound(call, "version", version)
	}
	if !r.dry {
		r.p.state.RulesetVersions[id] = slices.Delete(slices.Clone(past), i, i+1)
	}
	return nil
}
