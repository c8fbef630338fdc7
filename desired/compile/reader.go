package compile

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"

	"github.com/seawall-dev/seawall/cue/schema/explain"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/meet"
)

// both is one field twice: unified with the schema, which has the values, and
// as the files say it, which has the places. The latter does not exist for
// what only the schema says.
type both struct{ value, plain cue.Value }

// field returns a field of a small struct, which does not exist where the struct does not
// have it. Wide structs are walked with members. What the unified value lacks no file says:
// a lookup that fails costs CUE more than one that succeeds.
func (b both) field(name string) both {
	if !b.exists() {
		return both{}
	}
	p := cue.MakePath(cue.Str(name))
	f := both{value: b.value.LookupPath(p)}
	if f.exists() {
		f.plain = b.plain.LookupPath(p)
	}
	return f
}

func (b both) exists() bool { return b.value.Exists() }

func (b both) origin() desired.Origin {
	if !b.plain.Exists() {
		return desired.Origin{}
	}
	return explain.Origin(b.plain)
}

func (b both) text() string {
	if !b.exists() {
		return ""
	}
	s, _ := b.value.String() // validated: concrete and text
	return strings.ToValidUTF8(s, "\uFFFD")
}

func (b both) truth() bool {
	if !b.exists() {
		return false
	}
	t, _ := b.value.Bool() // validated: concrete and boolean
	return t
}

// member is one field of a struct that is walked.
type member struct {
	key string
	both
}

// members pairs the fields of a struct. A lookup by name is a linear scan in
// CUE, so the plain fields go through a map.
func (b both) members() []member {
	if !b.exists() {
		return nil
	}
	plain := map[string]cue.Value{}
	if iter, err := b.plain.Fields(); err == nil {
		for iter.Next() {
			plain[iter.Selector().Unquoted()] = iter.Value()
		}
	}
	var out []member
	if iter, err := b.value.Fields(); err == nil {
		for iter.Next() {
			key := iter.Selector().Unquoted()
			out = append(out, member{key, both{iter.Value(), plain[key]}})
		}
	}
	return out
}

// elements pairs the elements of a list.
func (b both) elements() []both {
	if !b.exists() {
		return nil
	}
	var out []both
	values, err := b.value.List()
	if err != nil {
		return nil
	}
	plain, plainErr := b.plain.List()
	for values.Next() {
		e := both{value: values.Value()}
		if plainErr == nil && plain.Next() {
			e.plain = plain.Value()
		}
		out = append(out, e)
	}
	return out
}

// reader fills a unit from a value that is known to fit the schema.
type reader struct {
	unit        *Unit
	unowned     []unowned
	expressions map[expressionSaid]bool // those that were checked
	finder      meet.Finder
}

// read returns how many zones and tokens there are.
func (r *reader) read(root both) (n int) {
	for _, m := range root.field("account").members() {
		a := r.account(m)
		n += len(a.Zones)
		r.unit.Accounts = append(r.unit.Accounts, a)
	}
	for _, m := range root.field("token").members() {
		r.unit.Tokens = append(r.unit.Tokens, r.token(m))
		n++
	}
	for _, m := range root.field("integration").members() {
		r.unit.Integrations = append(r.unit.Integrations, r.integration(m))
		n++
	}
	for _, m := range root.field("calendar").members() {
		r.unit.Calendar = append(r.unit.Calendar, r.calendarEntry(m))
		n++
	}
	for _, m := range root.field("test").members() {
		r.unit.Tests = append(r.unit.Tests, r.test(m))
		n++
	}
	if user := root.field("user"); user.exists() {
		r.unit.User = &desired.Declared[string]{Value: user.text(), Origin: user.origin()}
	}
	r.count(n)
	r.warnUnowned()
	return n
}

// count holds the folder to its width.
func (r *reader) count(n int) {
	limits := DefaultLimits
	p := desired.Problem{
		Origin: desired.Origin{File: r.unit.Dir},
		Hint:   "split the folder; keep shared defaults in the parent folder",
	}
	switch {
	case n > limits.MaxDeclarations:
		p.Message = fmt.Sprintf("the folder declares %d zones and tokens; the limit is %d", n, limits.MaxDeclarations)
	case n > limits.WarnDeclarations:
		p.Message = fmt.Sprintf("the folder declares %d zones and tokens; evaluation is slow with more than %d", n, limits.WarnDeclarations)
		p.Warning = true
	default:
		return
	}
	r.unit.Problems = append(r.unit.Problems, p)
}

func (r *reader) problem(origin desired.Origin, path, message, hint string) {
	r.unit.Problems = append(r.unit.Problems, desired.Problem{Origin: origin, Path: path, Message: message, Hint: hint})
}

func (r *reader) warn(origin desired.Origin, path, message, hint string) {
	r.unit.Problems = append(r.unit.Problems, desired.Problem{Origin: origin, Path: path, Message: message, Hint: hint, Warning: true})
}

// at writes a path below parent, quoting keys as CUE does.
func at(parent string, keys ...string) string {
	var b strings.Builder
	b.WriteString(parent)
	for _, key := range keys {
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(cue.Str(key).String())
	}
	return b.String()
}
