package deployment

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// decisions say what becomes of members that are live and not declared.
type decisions struct {
	byDefault *desired.Declared[desired.Unmanaged]                // nil: undecided
	of        map[diff.Member]desired.Declared[desired.Unmanaged] // by the path of an entry; see entryOf
	found     foundBefore                                         // what was there before; the zero value remembers nothing
	reports   bool                                                // what is new is undecided as well
}

// remembering are the decisions on a deployment of which members are on record: what is not
// declared, not decided on and new goes, unless it is only reported.
func (d decisions) remembering(before []diff.Member, reports bool) decisions {
	d.found, d.reports = foundIn(before), reports
	return d
}

// remembered is what is put on record of members that are live and not declared: those
// that stay, but for what is new and only reported.
func (d decisions) remembered(leftovers []diff.Leftover, quiet []diff.Member) []diff.Member {
	staying := slices.Clone(quiet)
	for _, l := range leftovers {
		if on := d.on(l.Path).Value; on == desired.Keep || on == "" && !d.found.isNew(l.Path) {
			staying = append(staying, l.Path)
		}
	}
	return rememberFound(staying)
}

// appeared are the members that are undecided and new.
func (d decisions) appeared(all []diff.Leftover) (appeared []diff.Leftover) {
	for _, l := range all {
		if d.on(l.Path).Value == "" && d.found.isNew(l.Path) {
			appeared = append(appeared, l)
		}
	}
	return appeared
}

// wideEntry stands for the ruleset-wide members.
const wideEntry diff.Member = "overrides"

// decide resolves the decisions of a declaration. A rule that is named by its id, and
// a tag, need not be in the managed ruleset: a live override on what is gone is one.
func (m *managed) decide(d desired.Deployment) (decisions, []resolveError) {
	ds := decisions{byDefault: d.Unmanaged, of: make(map[diff.Member]desired.Declared[desired.Unmanaged], len(d.Decisions))}
	var errs []resolveError
	for _, one := range d.Decisions {
		entry := wideEntry
		switch {
		case one.Version:
			entry = versionMember
		case one.Tag != "":
			entry = categoryMember(one.Tag, "")
		case !one.Rule.ByID():
			f := m.find(one.Rule)
			if f.message != "" {
				errs = append(errs, resolveError{one.Origin, "unmanaged: " + f.message, f.hint})
			}
			entry = ruleMember(f.id, "")
		case one.Rule.ID != "":
			entry = ruleMember(one.Rule.ID, "")
		}
		ds.of[entry] = desired.Declared[desired.Unmanaged]{Value: one.Unmanaged, Origin: one.Origin}
	}
	return ds, errs
}

// heals reports whether a member that is not declared goes because it is new, where no
// decision is about it.
func (d decisions) heals(path diff.Member) bool {
	_, decided := d.of[entryOf(path)]
	return !decided && d.byDefault == nil && !d.reports && d.found.isNew(path)
}

// entryOf is the entry that a member is in, as decisions name it.
func entryOf(path diff.Member) diff.Member {
	if path == versionMember {
		return versionMember
	}
	if list, key, _ := path.Override(); list != "" {
		return entryMember(list, key, "")
	}
	return wideEntry
}

// on is the decision on a member; without a value where there is none, and without an
// origin where it is the one on what is new.
func (d decisions) on(path diff.Member) desired.Declared[desired.Unmanaged] {
	if one, decided := d.of[entryOf(path)]; decided {
		return one
	}
	if d.byDefault != nil {
		return *d.byDefault
	}
	if d.heals(path) {
		return desired.Declared[desired.Unmanaged]{Value: desired.Remove}
	}
	return desired.Declared[desired.Unmanaged]{}
}

// removes reports whether a member that is not declared goes.
func (d decisions) removes(path diff.Member) bool { return d.on(path).Value == desired.Remove }

// with returns the members on which there is this decision; none is undecided.
func (d decisions) with(decision desired.Unmanaged, all []diff.Leftover) (found []diff.Leftover) {
	for _, l := range all {
		if d.on(l.Path).Value == decision {
			found = append(found, l)
		}
	}
	return found
}
