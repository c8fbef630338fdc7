package compile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"github.com/seawall-dev/seawall/desired"
)

const userPrefix = "com.vendor.api.user."

// neutral is a resource key with the segment "vendor", in the place of that of a platform
// that the schema knows.
func neutral(key string) string {
	if rest, ok := strings.CutPrefix(key, "com.cloudflare."); ok {
		return "com.vendor." + rest
	}
	return key
}

func (r *reader) token(m member) desired.Token {
	path := at("token", m.key)
	t := desired.Token{
		Key:       m.key,
		Origin:    m.origin(),
		Account:   m.field("account").text(),
		Name:      m.field("name").text(),
		NotBefore: m.field("not_before").text(),
		ExpiresOn: m.field("expires_on").text(),
		Prune:     m.field("prune").truth(),
		Places:    map[string]desired.Origin{},
	}
	for i, p := range m.field("policies").elements() {
		t.Policies = append(t.Policies, r.policy(fmt.Sprintf("%s[%d]", at(path, "policies"), i), p))
	}
	if f := m.field("condition"); f.exists() {
		t.Condition = r.condition(at(path, "condition", "request.ip"), f.field("request.ip"))
	}
	if f := m.field("sink"); f.exists() {
		t.Sink = &desired.Sink{Name: f.field("name").text(), Key: f.field("key").text()}
	}
	if f := m.field("rotate"); f.exists() {
		t.Rotate = &desired.Rotate{Every: duration(f.field("every").text()), Overlap: duration(f.field("overlap").text())}
	}
	for _, f := range m.members() {
		if f.key != "policies" {
			addPlaces(&t, f.key, f.both)
		}
	}
	r.checkToken(path, t, m.both)
	return t
}

// addPlaces notes where a member of a token is declared, or the members of that.
func addPlaces(t *desired.Token, path string, f both) {
	if f.value.IncompleteKind() == cue.StructKind {
		for _, m := range f.members() {
			addPlaces(t, path+"."+m.key, m.both)
		}
		return
	}
	if at := f.origin(); !at.IsZero() {
		t.Places[path] = at
	}
}

func (r *reader) policy(path string, f both) desired.Policy {
	p := desired.Policy{Origin: f.origin(), Effect: f.field("effect").text()}
	for _, m := range f.field("resources").members() {
		nested := m.value.IncompleteKind() == cue.StructKind
		key := neutral(m.key)
		if slices.ContainsFunc(p.Resources, func(r desired.Resource) bool { return r.Key == key }) {
			r.problem(m.origin(), at(path, "resources", m.key), "the same resource is in the policy with another vendor segment", "remove one of the two keys")
		}
		p.Resources = append(p.Resources, desired.Resource{Key: key, AllZones: nested})
		if tag, ok := strings.CutPrefix(key, userPrefix); ok {
			r.unit.Named = append(r.unit.Named, NamedUser{Tag: tag, Path: at(path, "resources", m.key), Origin: m.origin()})
		}
	}
	slices.SortFunc(p.Resources, func(a, b desired.Resource) int { return cmp.Compare(a.Key, b.Key) })
	for i, g := range f.field("permission_groups").elements() {
		group := desired.PermissionGroup{
			ID: g.field("id").text(), Name: g.field("name").text(), Scope: g.field("scope").text(), Origin: g.origin(),
		}
		r.checkGroup(fmt.Sprintf("%s[%d]", at(path, "permission_groups"), i), group, p.Resources)
		p.PermissionGroups = append(p.PermissionGroups, group)
	}
	return p
}

func (r *reader) condition(path string, f both) *desired.Condition {
	return &desired.Condition{
		In:    r.ranges(at(path, "in"), f.field("in")),
		NotIn: r.ranges(at(path, "not_in"), f.field("not_in")),
	}
}

func (r *reader) ranges(path string, f both) []string {
	var out []string
	for i, e := range f.elements() {
		out = append(out, r.masked(fmt.Sprintf("%s[%d]", path, i), e))
	}
	return out
}
