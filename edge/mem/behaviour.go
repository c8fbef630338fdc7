package mem

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/seawall-dev/seawall/edge"
)

// behaviour is the quirks of a platform, parsed. The zero value has none.
type behaviour struct {
	merge          bool
	ignore         bool // updates of a rule are accepted and lost
	reorder        bool
	defaults       bool
	omitEmptyRules bool
	bumpEvery      int // zero: never
	quota          int // tokens a user can have
}

func parseBehaviour(list []string) (behaviour, error) {
	values, err := ParseQuirks(Quirks(), list)
	if err != nil {
		return behaviour{}, err
	}
	has := func(name string) bool { _, ok := values[name]; return ok }
	every, _ := strconv.Atoi(values[QuirkRulesetBump]) // checked by ParseQuirks
	quota, _ := strconv.Atoi(values[QuirkQuota])
	return behaviour{
		merge:          values[QuirkPatch] == "merge",
		ignore:         values[QuirkPatch] == "ignored",
		reorder:        has(QuirkReorder),
		defaults:       has(QuirkDefaults),
		omitEmptyRules: has(QuirkOmitEmptyRules),
		bumpEvery:      every,
		quota:          cmp.Or(quota, MaxTokens),
	}, nil
}

// SetQuirks makes list the platform's quirks, in place of those it had. A list
// that [ParseQuirks] refuses changes nothing.
func (p *Platform) SetQuirks(list []string) error {
	b, err := parseBehaviour(list)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.behaviour, p.managedReads = b, 0
	return nil
}

// bumpOnRead counts a read of a managed ruleset and publishes it anew when its
// turn has come.
func (p *Platform) bumpOnRead(r *edge.Ruleset) {
	if p.behaviour.bumpEvery == 0 || r.Kind != edge.KindManaged {
		return
	}
	if p.managedReads++; p.managedReads%p.behaviour.bumpEvery == 0 {
		p.remember(*r)
		r.Version, r.LastUpdated = nextVersion(r.Version), p.timestamp()
	}
}

// answer returns the ruleset as the server tells it: a copy, with the quirks.
func (b behaviour) answer(r edge.Ruleset) edge.Ruleset {
	r = clone(r)
	if len(r.Rules) == 0 {
		r.Rules = []edge.Rule{}
		if b.omitEmptyRules {
			r.Rules = nil
		}
	}
	for i := range r.Rules {
		if b.reorder {
			reverseRules(&r.Rules[i])
		}
		if b.defaults {
			fillDefaults(&r.Rules[i])
		}
	}
	return r
}

func reverseRules(r *edge.Rule) {
	if r.ActionParameters != nil && r.ActionParameters.Overrides != nil {
		slices.Reverse(r.ActionParameters.Overrides.Rules)
	}
}

func fillDefaults(r *edge.Rule) {
	if r.Enabled == nil {
		r.Enabled = new(true)
	}
	if r.Description == nil {
		r.Description = new("")
	}
	if r.Ref == "" {
		r.Ref = string(r.ID)
	}
	if r.Action == edge.ActionExecute && r.ActionParameters != nil && r.ActionParameters.Version == "" {
		r.ActionParameters.Version = "latest"
	}
}
