package deployment

import (
	"encoding/json"
	"strconv"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// entry is what a category or rule override says, its key left out: the two
// differ in nothing else that matters here.
type entry struct {
	Action           *edge.Action
	Enabled          *bool
	ScoreThreshold   *int
	SensitivityLevel *string
	Extra            map[string]json.RawMessage
}

func categoryEntry(c edge.CategoryOverride) entry {
	return entry{Action: c.Action, Enabled: c.Enabled, SensitivityLevel: c.SensitivityLevel, Extra: c.Extra}
}

func (e entry) category(tag string) edge.CategoryOverride {
	return edge.CategoryOverride{
		Category: tag, Action: e.Action, Enabled: e.Enabled, SensitivityLevel: e.SensitivityLevel, Extra: e.Extra,
	}
}

func ruleEntry(r edge.RuleOverride) entry {
	return entry{
		Action: r.Action, Enabled: r.Enabled, ScoreThreshold: r.ScoreThreshold,
		SensitivityLevel: r.SensitivityLevel, Extra: r.Extra,
	}
}

func (e entry) rule(id edge.RuleID) edge.RuleOverride {
	return edge.RuleOverride{
		ID: id, Action: e.Action, Enabled: e.Enabled, ScoreThreshold: e.ScoreThreshold,
		SensitivityLevel: e.SensitivityLevel, Extra: e.Extra,
	}
}

// wideOf is what overrides say of the ruleset as a whole.
func wideOf(o *edge.Overrides) entry {
	return entry{Action: o.Action, Enabled: o.Enabled, SensitivityLevel: o.SensitivityLevel, Extra: o.Extra}
}

// members are the paths of what an entry says.
func (e entry) members(path func(string) diff.Member) (all []diff.Member) {
	for _, member := range overrideMembers {
		if e.get(member) != nil {
			all = append(all, path(member))
		}
	}
	for name := range e.Extra {
		all = append(all, path(name))
	}
	return all
}

// isEmpty reports whether an entry says nothing; the platform refuses such ones.
func (e entry) isEmpty() bool {
	return e.Action == nil && e.Enabled == nil && e.ScoreThreshold == nil && e.SensitivityLevel == nil && len(e.Extra) == 0
}

// enables reports whether an entry says "enabled: true": the one thing that may
// change nothing at all.
func (e entry) enables() bool { return e.Enabled != nil && *e.Enabled }

// disables reports whether an entry says "enabled: false".
func (e entry) disables() bool { return e.Enabled != nil && !*e.Enabled }

// The paths under which members appear in a plan, in the reference's names.

// entryMember is the path of one member of an entry in the list "categories" or
// "rules", or of the whole entry where member is empty.
func entryMember(list, key, member string) diff.Member {
	var room [128]byte // most paths
	path := append(append(append(room[:0], "overrides."...), list...), '[')
	path = append(strconv.AppendQuote(path, key), ']')
	if member != "" {
		path = append(append(path, '.'), member...)
	}
	return diff.Member(path)
}

// wideMember is the path of a ruleset-wide member.
func wideMember(member string) diff.Member { return diff.Member("overrides." + member) }

func categoryMember(tag, member string) diff.Member { return entryMember("categories", tag, member) }

func ruleMember(id edge.RuleID, member string) diff.Member {
	return entryMember("rules", string(id), member)
}
