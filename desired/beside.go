package desired

import "reflect"

// Pair is a member of a declaration beside the same member of one with which what is live
// agrees. One of them at least is there.
type Pair struct {
	Path           string
	Declared, Live *Member
}

// Same reports whether both are there and have the same value.
func (p Pair) Same() bool {
	return p.Declared != nil && p.Live != nil && reflect.DeepEqual(p.Declared.Plain(), p.Live.Plain())
}

// Member is the one that is there, the live one first.
func (p Pair) Member() Member {
	if p.Live != nil {
		return *p.Live
	}
	return *p.Declared
}

// Beside pairs the members of a declaration with those of the other; nil has none. What only is
// live comes last. What says what becomes of others is never live itself.
func Beside(declared, live Declaring) (pairs []Pair) {
	type key struct{ path, of string }
	at := map[key]int{}
	for m := range declared.Members() {
		at[key{m.Path, m.Of}] = len(pairs)
		pairs = append(pairs, Pair{Path: m.Path, Declared: &m})
	}
	if live == nil {
		return pairs
	}
	for m := range live.Members() {
		i, known := at[key{m.Path, m.Of}]
		switch {
		case known && !m.Decides:
			pairs[i].Live = &m
		case !known && m.Path == string(Keep): // an override that no declaration can say, so that it was named
			pairs = append(pairs, Pair{Path: "override", Live: &m})
		case !known && !m.Decides:
			pairs = append(pairs, Pair{Path: m.Path, Live: &m})
		}
	}
	return pairs
}

// Plain is the value as JSON has it.
func (m Member) Plain() any {
	switch v := m.Value.(type) {
	case RuleRef:
		return v.plain()
	case TagOverride:
		return v.plain(map[string]any{"tag": v.Tag})
	case RuleOverride:
		return v.plain(v.Rule.plain())
	case Decision:
		switch {
		case v.All:
			return map[string]any{"all": true}
		case v.Version:
			return map[string]any{"version": true}
		case v.Tag != "":
			return map[string]any{"tag": v.Tag}
		}
		return v.Rule.plain()
	case Accepted:
		return v.plain()
	}
	return m.Value
}

func (r RuleRef) plain() map[string]any {
	switch {
	case r.Ref != "":
		return map[string]any{"ref": r.Ref}
	case r.Description != "":
		return map[string]any{"description": r.Description}
	}
	return map[string]any{"id": string(r.ID)}
}

func (o Override) plain(of map[string]any) map[string]any {
	for m := range o.Members() {
		of[m.Path] = m.Value
	}
	return of
}
