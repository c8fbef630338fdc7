package deployment

import (
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// decisions say what becomes of members that are live and not declared.
type decisions struct {
	byDefault *desired.Declared[desired.Unmanaged]                // nil: undecided
	of        map[diff.Member]desired.Declared[desired.Unmanaged] // by the path of an entry; see entryOf
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
		case one.Rule.Ref != "":
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

// on is the decision on a member; without a value where there is none.
func (d decisions) on(path diff.Member) desired.Declared[desired.Unmanaged] {
	entry := wideEntry
	if path == versionMember {
		entry = versionMember
	}
	if list, key, _ := path.Override(); list != "" {
		entry = entryMember(list, key, "")
	}
	if one, decided := d.of[entry]; decided {
		return one
	}
	if d.byDefault != nil {
		return *d.byDefault
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
