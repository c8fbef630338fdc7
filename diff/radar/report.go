// Package radar says what a new version of a managed ruleset means: which rules came, went or
// changed, and in which zones protection changes with that, by what is declared there. The
// versions that were seen and a state go in ([Input]), a [Report] comes out, which is text,
// Markdown or versioned JSON.
//
//	report := radar.Make(radar.Input{State: state, Seen: versions})
//	report.Weakens()            // whether protection is weaker in a zone
//	radar.Text(w, report, radar.Format{})
//
// It is pure. What a version means for one deployment says [planner.Publication], by the rules
// of a plan; this package finds the versions, and groups zones for which they mean the same.
//
// The laws: a version compared with itself changes nothing; in the other direction what came
// went, and what strengthens weakens; what is said of a zone does not depend on other zones.
package radar

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// Version is that of the JSON form.
const Version = 1

// Report is what versions mean. Its JSON form is described by [Schema].
type Report struct {
	Version   int         `json:"version"`
	Direction Direction   `json:"direction,omitempty"` // of all rulesets together; empty where nothing changes in a zone
	Rulesets  []Published `json:"rulesets"`            // those that weaken first
	Problems  []Problem   `json:"problems"`            // what could not be compared

	known []string // keys, names and ids of rulesets that there are
}

// Direction is that of a change; see [diff.Direction].
type Direction = diff.Direction

// Problem is a declared managed ruleset of which nothing can be said.
type Problem struct {
	Account string         `json:"account"`
	Ruleset string         `json:"ruleset"` // its key
	Reason  string         `json:"reason"`
	Hint    string         `json:"hint,omitempty"`
	Origin  desired.Origin `json:"origin,omitzero"`
}

// Published is a managed ruleset with the versions of it that are compared.
type Published struct {
	Accounts []Account      `json:"accounts"` // that had the same versions
	ID       edge.RulesetID `json:"id"`
	Name     string         `json:"name"`
	// Versions are the one that is compared with, and those that were seen after it. The last
	// is the newest one. With one alone nothing is compared.
	Versions []Seen `json:"versions"`
	// KeptSince is when the oldest version on record was seen. Early says that what was asked
	// for is older: that version is not known, and the oldest one takes its place.
	KeptSince time.Time `json:"kept_since"`
	Early     bool      `json:"early,omitempty"`

	Direction Direction `json:"direction,omitempty"` // of all zones together
	Rules     Rules     `json:"rules"`
	Groups    []Group   `json:"groups"`    // zones for which the newest version means something
	Unchanged int       `json:"unchanged"` // how many deployments it means nothing for
	Pinned    int       `json:"pinned"`    // how many of these run a version that they name
	Off       int       `json:"off"`       // and how many are off
}

// Account names an account.
type Account struct {
	Key string         `json:"key"`
	ID  edge.AccountID `json:"id"`
}

// Seen is a version, and when Seawall saw it first.
type Seen struct {
	Version string    `json:"version"`
	At      time.Time `json:"first_seen"`
}

// Rules are what differs in the ruleset itself, with the directions of the defaults.
type Rules struct {
	Removed []Rule     `json:"removed"`
	Added   []Rule     `json:"added"`
	Changed []Changed  `json:"changed"`
	Last    *LastRules `json:"last,omitempty"` // another rule is the last one
	Revised int        `json:"revised"`        // rules of which nothing differs but their own version

	summary string
}

// Rule is a rule of a managed ruleset.
type Rule struct {
	ID          edge.RuleID `json:"id"`
	Ref         string      `json:"ref,omitempty"`
	Description string      `json:"description,omitempty"`
	Tags        []string    `json:"tags,omitempty"`
	Enabled     bool        `json:"enabled"`
	Action      edge.Action `json:"action,omitempty"`
	Score       *int        `json:"score_threshold,omitempty"`
}

// Changed is a rule that both versions have.
type Changed struct {
	Rule    Rule     `json:"rule"` // of the newer version
	Members []Member `json:"members"`
}

// Member is a member of a rule in both versions.
type Member struct {
	Path string `json:"path"`
	Old  any    `json:"old,omitempty"`
	New  any    `json:"new,omitempty"`
}

// LastRules are the last rules of both versions.
type LastRules struct {
	Old *Rule `json:"old,omitempty"`
	New *Rule `json:"new,omitempty"`
}

// Group is zones for which the newest version means the same.
type Group struct {
	Direction Direction `json:"direction"`
	// Blocked says that the declaration cannot be applied any more, for Mistakes. Their origins
	// are those of the first zone.
	Blocked  bool               `json:"blocked,omitempty"`
	Mistakes []rulesets.Mistake `json:"mistakes,omitempty"`
	// Rewritten says that Seawall writes the overrides anew. Meanwhile is the direction until
	// then, where that is another one.
	Rewritten bool      `json:"rewritten,omitempty"`
	Meanwhile Direction `json:"meanwhile,omitempty"`
	// Mended says that the declaration could not be applied before, and can be now.
	Mended bool     `json:"mended,omitempty"`
	Rules  []Effect `json:"rules"` // that do something else there; those that weaken first
	Zones  []Zone   `json:"zones"`
}

// weakensMeanwhile reports whether protection is weaker only until Seawall has written.
func (g Group) weakensMeanwhile() bool {
	return g.Direction != diff.Weakens && g.Meanwhile == diff.Weakens
}

// Effect is what a rule did in the zones of a group, and what it does.
type Effect struct {
	Rule      Rule             `json:"rule"`
	Last      bool             `json:"last,omitempty"`
	Direction Direction        `json:"direction"`
	Before    *rulesets.Effect `json:"before,omitempty"`
	After     *rulesets.Effect `json:"after,omitempty"`
}

// Zone is a deployment of a group.
type Zone struct {
	Account    string         `json:"account"`
	Zone       string         `json:"zone"`
	Scope      edge.Scope     `json:"zone_id,omitzero"`
	Deployment string         `json:"deployment"`
	Origin     desired.Origin `json:"origin,omitzero"`
}

// Changes reports whether a version was seen that differs from the one it is compared with.
func (r Report) Changes() bool {
	for _, p := range r.Rulesets {
		if p.Changes() {
			return true
		}
	}
	return false
}

// Changes reports whether versions are compared.
func (p Published) Changes() bool { return len(p.Versions) > 1 }

// Weakens reports whether protection is weaker in a zone.
func (r Report) Weakens() bool { return r.Direction == diff.Weakens }

// Blocked counts the deployments whose declarations cannot be applied any more.
func (r Report) Blocked() (n int) {
	for _, p := range r.Rulesets {
		n += p.Count(func(g Group) bool { return g.Blocked })
	}
	return n
}

// Count counts the deployments of the groups that pass.
func (p Published) Count(pass func(Group) bool) (n int) {
	for _, g := range p.Groups {
		if pass(g) {
			n += len(g.Zones)
		}
	}
	return n
}

// Towards counts the deployments whose protection changes in a direction.
func (p Published) Towards(d Direction) int {
	return p.Count(func(g Group) bool { return g.Direction == d })
}

// Towards counts the deployments of all rulesets whose protection changes in a direction.
func (r Report) Towards(d Direction) (n int) {
	for _, p := range r.Rulesets {
		n += p.Towards(d)
	}
	return n
}

// Known are the keys, names and ids of the rulesets that a report can be asked for.
func (r Report) Known() []string { return r.known }
