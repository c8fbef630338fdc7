package judge

import (
	"slices"
	"strings"
)

// mode says whether what is assumed of fields counts.
type mode bool

const (
	withAssumptions    mode = true
	withoutAssumptions mode = false
)

// Bounds of the cases of one variable.
const (
	mostChecks  = 8 << 10 // values, times atoms
	mostOpen    = 10      // predicates that may be true or false of one value
	mostColumns = 4 << 10
)

// columns are all cases of a variable: in each, bit i says whether atom i is true. It is false
// where there are too many, or nothing is known.
//
// Few values stand for all: where sets begin, and behind where they end. No atom tells values
// between those apart.
func (v *variable) columns(m mode) ([]uint64, bool) {
	if v.free {
		return []uint64{0, 1}, true
	}
	if v.full || v.term.fixed && v.class != texts && v.class != unknownClass {
		return nil, false
	}
	values, others := v.values(m)
	if len(values)*len(v.atoms) > mostChecks {
		return nil, false
	}
	var all []uint64
	for _, value := range values {
		column, open := v.column(value)
		if all = spread(all, column, open); all == nil {
			return nil, false
		}
	}
	if others {
		column, open := v.other(m)
		if all = spread(all, column, open); all == nil {
			return nil, false
		}
	}
	if !v.term.certain && !(bool(m) && v.term.present) {
		all = append(all, 0) // the term is missing: nothing is true
	}
	slices.Sort(all)
	return slices.Compact(all), true
}

// values are those that stand for all, and whether there are others: strings that no set has.
func (v *variable) values(m mode) (values []string, others bool) {
	switch {
	case v.term.certain, bool(m) && v.term.fixed:
		return []string{v.term.value}, false
	case v.class == unknownClass:
		return nil, true
	}
	values = append(v.bounds(), least[v.class]...)
	if m == withAssumptions {
		if v.class == numbers {
			values = append(values, number(0))
		}
		values = slices.DeleteFunc(values, func(value string) bool { return !v.expects(value) })
	}
	slices.Sort(values)
	return slices.Compact(values), v.class == texts
}

// bounds are the values where sets begin, and those behind where they end.
func (v *variable) bounds() (values []string) {
	for _, a := range v.atoms {
		if a.set == nil {
			continue
		}
		for _, i := range a.set.intervals {
			values = append(values, i.low)
			if after, ok := successor(v.class, i.high); ok {
				values = append(values, after)
			}
		}
	}
	return values
}

// expects reports whether a value is as is assumed of the term.
func (v *variable) expects(value string) bool {
	switch {
	case v.class == numbers:
		return !v.term.whole || value >= number(0)
	case v.class == texts:
		return strings.HasPrefix(value, v.term.begins) && strings.Contains(value, v.term.within)
	}
	return true
}

// column is the case that the term has a value, with the atoms that may be true or false then.
func (v *variable) column(value string) (column uint64, open []int) {
	column = 1
	for i, a := range v.atoms[1:] {
		is, known := false, true
		switch {
		case a.set != nil:
			is = a.set.has(value)
		case v.class == texts || v.term.fixed:
			is, known = a.pred.of(value)
		default:
			known = false
		}
		switch {
		case !known:
			open = append(open, i+1)
		case is:
			column |= 1 << (i + 1)
		}
	}
	return column, open
}

// other is the case that the term has a value that is in no set.
func (v *variable) other(m mode) (column uint64, open []int) {
	column = 1
	for i, a := range v.atoms[1:] {
		switch {
		case a.set != nil:
		case bool(m) && a.pred.follows(v.term):
			column |= 1 << (i + 1)
		default:
			open = append(open, i+1)
		}
	}
	return column, open
}

// spread adds a column with all that its open atoms may be; nil where those are too many.
func spread(all []uint64, column uint64, open []int) []uint64 {
	if len(open) > mostOpen || len(all)+1<<len(open) > mostColumns {
		return nil
	}
	for bits := range uint64(1) << len(open) {
		one := column
		for i, at := range open {
			one |= (bits >> i & 1) << at
		}
		all = append(all, one)
	}
	return all
}
