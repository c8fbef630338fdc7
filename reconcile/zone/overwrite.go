package zone

import (
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// overwrite plans a change once more where the platform kept members that the write has left
// out: it merges. What is to go is overwritten with a value that changes nothing, where
// there is one. again says that this gives another change to send.
func (v *visit) overwrite(c, left diff.Change) (_ diff.Change, proved *reconcile.Result, again bool) {
	if v.Merges || !slices.ContainsFunc(left.Fields, diff.Field.Removes) {
		return left, nil, false
	}
	v.Merges = true
	instead, proved := v.replan(c)
	return instead, proved, proved == nil && instead.Fingerprint() != left.Fingerprint()
}

// afterTries is a change that took more than one write: what the first one altered, with what
// the last wrote in its place.
func afterTries(first, second diff.Change, tries int) diff.Change {
	if tries == 1 || first.Action() != second.Action() {
		return second
	}
	fields := slices.Clone(first.Fields)
	for _, f := range second.Fields {
		i := slices.IndexFunc(fields, func(have diff.Field) bool { return have.Path == f.Path })
		if i < 0 {
			fields = append(fields, f)
			continue
		}
		f.Old = fields[i].Old
		fields[i] = f
	}
	second.Fields, second.Direction = fields, diff.Combine(first.Direction, second.Direction)
	return second
}
