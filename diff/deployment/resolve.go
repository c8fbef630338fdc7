package deployment

import (
	"fmt"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// managed is a managed ruleset with the look-ups that resolving needs. It is
// built once per ruleset and shared by all zones that deploy it.
type managed struct {
	edge.Ruleset
	byID  map[edge.RuleID]int
	byRef map[string][]edge.RuleID
	byTag map[string][]int
	last  edge.RuleID
	allOn bool                        // every rule is on by default
	does  []effect                    // what each rule does by default
	found map[desired.RuleRef]finding // nil: none yet

	byDescription map[string][]edge.RuleID
}

func index(r edge.Ruleset) *managed {
	m := &managed{
		Ruleset: r,
		does:    make([]effect, 0, len(r.Rules)),
		byID:    make(map[edge.RuleID]int, len(r.Rules)),
		byRef:   make(map[string][]edge.RuleID, len(r.Rules)),
		byTag:   map[string][]int{},
		allOn:   true,

		byDescription: make(map[string][]edge.RuleID, len(r.Rules)),
	}
	for i, rule := range r.Rules {
		m.byID[rule.ID] = i
		if rule.Ref != "" {
			m.byRef[rule.Ref] = append(m.byRef[rule.Ref], rule.ID)
		}
		if text := descriptionOf(rule); text != "" {
			m.byDescription[text] = append(m.byDescription[text], rule.ID)
		}
		for _, tag := range rule.Categories {
			m.byTag[tag] = append(m.byTag[tag], i)
		}
		m.last, m.does = rule.ID, append(m.does, effectOf(rule))
		m.allOn = m.allOn && rule.IsEnabled()
	}
	return m
}

// managedOf is the index of a managed ruleset. What it learns while a plan is made with it
// (findings) is not shared: each caller gets a copy of its own.
func managedOf(indexes *diff.Indexes, r edge.Ruleset) *managed {
	own := *indexes.Of(Name, r, func(r edge.Ruleset) any { return index(r) }).(*managed) //nolint:forcetypeassert // it is made here
	own.Ruleset = r
	return &own
}

// claim is what an intent says about one override entry. Members it leaves nil
// belong to somebody else.
type claim struct {
	enabled     *bool // the value "enabled" must have
	on          bool  // "enabled" must not be false: a paranoia tag at or below the level
	score       *int
	action      *edge.Action
	sensitivity *string

	// Where each is declared; nil for what is not. Pointers into the declaration: zones have many claims.
	enabledFrom, scoreFrom, actionFrom, sensitivityFrom *desired.Origin

	place int // among the tags that are written; those of one place by name
}

// writes reports whether a claim puts something there, and does not only
// forbid something.
func (c claim) writes() bool {
	return c.enabled != nil || c.score != nil || c.action != nil || c.sensitivity != nil
}

// claims is a deployment's intent, resolved against the managed ruleset.
type claims struct {
	all   claim // on the ruleset-wide members
	tags  entryClaims
	rules entryClaims // by id

	origins map[diff.Member]*desired.Origin // of each claimed member: the line that claims it
}

// entryClaims are those on the entries of one list, by their keys. Most lists are short, and a
// map has room for eight at once: for pointers, and not for whole claims.
type entryClaims map[string]*claim

func (e entryClaims) of(key string) claim {
	if c := e[key]; c != nil {
		return *c
	}
	return claim{}
}

// resolveError is a declaration that the managed ruleset cannot honour.
type resolveError struct {
	origin  desired.Origin
	message string
	hint    string
}

// resolve turns an intent into claims (reference, "Procedure: set paranoia
// level" and "Procedure: set score threshold and action"). It reports every
// mistake it finds, not only the first.
func resolve(d desired.Deployment, m *managed) (claims, []resolveError) {
	c := claims{tags: entryClaims{}, rules: entryClaims{}}
	var errs []resolveError
	errs = append(errs, c.claimParanoia(d.Paranoia, m)...)
	errs = append(errs, c.claimThreshold(d.Threshold, m)...)
	errs = append(errs, c.claimTags(d.Disable.Tags, m)...)
	errs = append(errs, c.claimRules(d.Disable.Rules, d.Threshold != nil, m)...)
	c.all, _ = claim{}.with(d.All)
	errs = append(errs, c.overrideTags(d.Tags, m)...)
	errs = append(errs, c.overrideRules(d.Rules, m)...)
	c.origins = c.claimed()
	return c, errs
}

var on, off = true, false

// claimParanoia owns all paranoia tags: those above the level must be
// disabled, those at or below it must not.
func (c claims) claimParanoia(paranoia *desired.Declared[int], m *managed) []resolveError {
	if paranoia == nil {
		return nil
	}
	const hint = "leave out paranoia for a ruleset without paranoia levels"
	if !m.hasParanoia() {
		return []resolveError{{paranoia.Origin, fmt.Sprintf("paranoia: managed ruleset %q has no rules tagged with a paranoia level", m.Name), hint}}
	}
	var errs []resolveError
	for level := 1; level <= edge.MaxParanoia; level++ {
		tag := edge.ParanoiaTag(level)
		if level <= paranoia.Value {
			c.tags[tag] = &claim{on: true, enabledFrom: &paranoia.Origin}
			continue
		}
		if !m.knowsTag(tag) {
			errs = append(errs, resolveError{
				paranoia.Origin,
				fmt.Sprintf("paranoia: managed ruleset %q has no rules tagged %s", m.Name, tag),
				hint,
			})
		}
		c.tags[tag] = &claim{enabled: &off, enabledFrom: &paranoia.Origin}
	}
	return errs
}

func (c claims) claimThreshold(t *desired.Threshold, m *managed) []resolveError {
	if t == nil {
		return nil
	}
	last, ok := m.Last()
	if !ok || last.ScoreThreshold == nil {
		return []resolveError{{
			t.Score.Origin,
			fmt.Sprintf("threshold: the last rule of managed ruleset %q carries no score_threshold", m.Name),
			"leave out threshold for a ruleset that does not score requests",
		}}
	}
	c.rules[string(m.last)] = &claim{
		score: &t.Score.Value, scoreFrom: &t.Score.Origin,
		action: &t.Action.Value, actionFrom: &t.Action.Origin,
	}
	return nil
}

// unknownTag says that a declared tag is not one of the ruleset's.
func (m *managed) unknownTag(where, tag string, at desired.Origin) resolveError {
	return resolveError{at, fmt.Sprintf("%s: managed ruleset %q has no tag %q", where, m.Name, tag), nearest.Hint(tag, sortedKeys(m.byTag), "")}
}

func (c claims) claimTags(tags []desired.Declared[string], m *managed) []resolveError {
	var errs []resolveError
	for i := range tags {
		tag := &tags[i]
		if !m.knowsTag(tag.Value) {
			errs = append(errs, m.unknownTag("disable.tags", tag.Value, tag.Origin))
			continue
		}
		c.tags[tag.Value] = &claim{enabled: &off, enabledFrom: &tag.Origin}
	}
	return errs
}

func (c claims) claimRules(refs []desired.Declared[desired.RuleRef], threshold bool, m *managed) []resolveError {
	var errs []resolveError
	for i := range refs {
		ref := &refs[i]
		f := m.find(ref.Value)
		if f.message == "" && threshold && f.id == m.last {
			f.message = fmt.Sprintf("%s is the last rule of %q, whose threshold is declared too", ref.Value, m.Name)
			f.hint = "disable the rule or set its threshold, not both"
		}
		if f.message != "" {
			errs = append(errs, resolveError{ref.Origin, "disable.rules: " + f.message, f.hint})
			continue
		}
		c.rules[string(f.id)] = &claim{enabled: &off, enabledFrom: &ref.Origin}
	}
	return errs
}

// knowsTag reports whether a tag exists. Where the platform shows no tags at
// all, as the reference's rule table does not, every tag passes.
func (m *managed) knowsTag(tag string) bool {
	return len(m.byTag) == 0 || len(m.byTag[tag]) > 0
}

// hasParanoia reports whether any paranoia tag exists.
func (m *managed) hasParanoia() bool {
	for level := 1; level <= edge.MaxParanoia; level++ {
		if m.knowsTag(edge.ParanoiaTag(level)) {
			return true
		}
	}
	return false
}
