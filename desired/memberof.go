package desired

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
)

// MemberOf is one thing that an O can declare: a single value, or a list.
type MemberOf[O any] struct {
	Path string // below O
	Type Type
	// Decides says that it is about what becomes of others: the platform has no value of it.
	Decides bool
	// Default holds where nothing is declared, and need not be written; nil: nothing does.
	Default any

	values func(o *O, yield func(Member) bool) bool // with neither path nor what the member says of all
	add    func(o *O, value any, at Origin)
	same   func(a, b *O) bool
	print  func(o *O) any // what a fingerprint has of it; nil for nothing
}

// Add declares a value, which is of the Go type that the member's [Type] says. Of a list it
// declares one more element.
func (m MemberOf[O]) Add(o *O, value any, at Origin) { m.add(o, value, at) }

// Declared are the values that are declared of the member: at most one, unless it is a list.
func (m MemberOf[O]) Declared(o O) iter.Seq[Member] {
	return func(yield func(Member) bool) { m.each(&o, yield) }
}

func (m MemberOf[O]) each(o *O, yield func(Member) bool) bool {
	return m.values(o, func(v Member) bool {
		v.Path, v.Decides = m.Path, m.Decides
		return yield(v)
	})
}

func (m MemberOf[O]) decides() MemberOf[O] {
	m.Decides = true
	return m
}

func (m MemberOf[O]) unless(value any) MemberOf[O] {
	m.Default = value
	return m
}

// basic is what a single value may be in Go.
type basic interface{ ~bool | ~int | ~string }

// single is a member with one value: get is nil where none is declared.
func single[O any, T basic](typ Type, path string, get func(*O) *Declared[T], set func(*O, Declared[T])) MemberOf[O] {
	return MemberOf[O]{
		Path: path, Type: typ,
		values: func(o *O, yield func(Member) bool) bool {
			v := get(o)
			return v == nil || yield(Member{Value: plain(v.Value), Origin: v.Origin})
		},
		add: func(o *O, value any, at Origin) {
			set(o, Declared[T]{reflect.ValueOf(value).Convert(reflect.TypeFor[T]()).Interface().(T), at})
		},
		same: func(a, b *O) bool {
			v, w := get(a), get(b)
			return v == nil && w == nil || v != nil && w != nil && v.Value == w.Value
		},
		print: func(o *O) any {
			if v := get(o); v != nil {
				return v.Value
			}
			return nil
		},
	}
}

// plain is a value in the type that Go itself has: an action as a string.
func plain[T basic](value T) any {
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.Int:
		return int(v.Int())
	default:
		return v.String()
	}
}

// field is a single value in a field that is nil where none is declared.
func field[O any, T basic](typ Type, path string, at func(*O) **Declared[T]) MemberOf[O] {
	return single(typ, path,
		func(o *O) *Declared[T] { return *at(o) },
		func(o *O, v Declared[T]) { *at(o) = &v })
}

// flag is declared to be true, or not at all. Its origin is that of the deployment.
func flag(path string, at func(*Deployment) *bool) MemberOf[Deployment] {
	m := single(Bool, path,
		func(d *Deployment) *Declared[bool] {
			if !*at(d) {
				return nil
			}
			return &Declared[bool]{true, d.Origin}
		},
		func(d *Deployment, v Declared[bool]) { *at(d) = v.Value }).decides()
	m.same = func(a, b *Deployment) bool { return *at(a) == *at(b) }
	return m
}

// ofThreshold is a member of the threshold, which has all of its members or does not exist.
func ofThreshold[T basic](typ Type, path string, at func(*Threshold) *Declared[T]) MemberOf[Deployment] {
	return single(typ, path,
		func(d *Deployment) *Declared[T] {
			if d.Threshold == nil {
				return nil
			}
			return at(d.Threshold)
		},
		func(d *Deployment, v Declared[T]) {
			if d.Threshold == nil {
				d.Threshold = &Threshold{}
			}
			*at(d.Threshold) = v
		})
}

// ofAll are the members of the override on the ruleset as a whole, which has no score.
func ofAll() (members []MemberOf[Deployment]) {
	for _, m := range OverrideMembers {
		if m.Type == Score {
			continue
		}
		members = append(members, MemberOf[Deployment]{
			Path: "all." + m.Path, Type: m.Type,
			values: func(d *Deployment, yield func(Member) bool) bool { return m.values(&d.All, yield) },
			add:    func(d *Deployment, value any, at Origin) { m.add(&d.All, value, at) },
			same:   func(a, b *Deployment) bool { return m.same(&a.All, &b.All) },
			print:  func(d *Deployment) any { return m.print(&d.All) },
		})
	}
	return members
}

// element is what the elements of a list have in common.
type element[E any] interface {
	member() Member // but for what the list says
	sameAs(other E) bool
	bare() any // what a fingerprint has of it
	from(value any, at Origin) E
}

// list is a member with any number of values.
func list[E element[E]](typ Type, path string, at func(*Deployment) *[]E) MemberOf[Deployment] {
	return MemberOf[Deployment]{
		Path: path, Type: typ,
		values: func(d *Deployment, yield func(Member) bool) bool {
			for _, e := range *at(d) {
				if !yield(e.member()) {
					return false
				}
			}
			return true
		},
		add: func(d *Deployment, value any, origin Origin) {
			var e E
			*at(d) = append(*at(d), e.from(value, origin))
		},
		same: func(a, b *Deployment) bool { return slices.EqualFunc(*at(a), *at(b), E.sameAs) },
		print: func(d *Deployment) any {
			var all []any
			for _, e := range *at(d) {
				all = append(all, e.bare())
			}
			if all == nil {
				return nil
			}
			return all
		},
	}
}

// decided are the decisions of one sort. A fingerprint has all of them in one list.
func decided(as Unmanaged) MemberOf[Deployment] {
	m := list(Decisions, string(as), func(d *Deployment) *[]Decision { return &d.Decisions }).decides()
	all := m.values
	m.values = func(d *Deployment, yield func(Member) bool) bool {
		return all(d, func(v Member) bool { return v.Value.(Decision).Unmanaged != as || yield(v) })
	}
	return m
}

// A declared value is an element of a list of values.

func (d Declared[T]) member() Member {
	return Member{Of: fmt.Sprint(d.Value), Value: d.Value, Origin: d.Origin}
}

func (d Declared[T]) sameAs(o Declared[T]) bool { return any(d.Value) == any(o.Value) }

func (d Declared[T]) bare() any { return Declared[T]{Value: d.Value} }

func (Declared[T]) from(value any, at Origin) Declared[T] { return Declared[T]{value.(T), at} }
