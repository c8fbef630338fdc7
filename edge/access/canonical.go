package access

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// Canonical returns the form in which two specs are compared: what the platform
// reorders is sorted, what it fills in is dropped, and what says nothing is left
// out. Policies are a set of (effect, group ids, resources) and ranges a set with
// host bits cleared; a range that is none stays as it is. Timestamps and the name
// are as given. The spec itself is not changed, and shares nothing with the
// result but text.
func Canonical(spec edge.TokenSpec) edge.TokenSpec {
	spec.Policies = canonicalPolicies(spec.Policies)
	spec.Condition = canonicalCondition(spec.Condition)
	return spec
}

func canonicalPolicies(list []edge.Policy) []edge.Policy {
	out := make([]edge.Policy, 0, len(list))
	texts := map[string]edge.Policy{}
	for _, p := range list {
		p = canonicalPolicy(p)
		texts[string(mustMarshal(p))] = p
	}
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		out = append(out, texts[text])
	}
	return out
}

func canonicalPolicy(p edge.Policy) edge.Policy {
	c := edge.Policy{Effect: p.Effect, Resources: map[string]edge.Breadth{}, PermissionGroups: []edge.PermissionGroup{}}
	for key, breadth := range p.Resources {
		breadth.Other = canonicalJSON(breadth.Other)
		breadth.AllZones = breadth.AllZones && breadth.Other == nil
		c.Resources[key] = breadth
	}
	for _, g := range p.PermissionGroups {
		c.PermissionGroups = append(c.PermissionGroups, edge.PermissionGroup{ID: g.ID})
	}
	slices.SortFunc(c.PermissionGroups, func(a, b edge.PermissionGroup) int { return cmp.Compare(a.ID, b.ID) })
	c.PermissionGroups = slices.CompactFunc(c.PermissionGroups, func(a, b edge.PermissionGroup) bool { return a.ID == b.ID })
	return c
}

// canonicalJSON sorts the members of objects and drops white space. Numbers keep
// their text. What is not JSON, which no answer of a platform can hold, is told
// as such rather than mistaken for some other value.
func canonicalJSON(data json.RawMessage) json.RawMessage {
	if data == nil {
		return nil
	}
	var value any = map[string]string{"not JSON": string(data)}
	if json.Valid(data) {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		_ = decoder.Decode(&value) // valid, it was just said
	}
	return mustMarshal(value)
}

func canonicalCondition(c *edge.Condition) *edge.Condition {
	if c == nil || c.RequestIP == nil || c.RequestIP.In == nil && len(c.RequestIP.NotIn) == 0 {
		return nil
	}
	f := edge.AddressFilter{In: canonicalRanges(c.RequestIP.In)}
	if len(c.RequestIP.NotIn) > 0 {
		f.NotIn = canonicalRanges(c.RequestIP.NotIn)
	}
	return &edge.Condition{RequestIP: &f}
}

// canonicalRanges keeps an empty list apart from none: an empty "in" lets
// nothing through.
func canonicalRanges(texts []string) []string {
	if texts == nil {
		return nil
	}
	out := make([]string, 0, len(texts))
	for _, text := range texts {
		if r, err := parseRange(text); err == nil {
			text = r.String()
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Hash is the SHA-256, in hexadecimal, of the canonical form as JSON, the name
// included. It is kept on disk: the same spec must have the same hash in every
// version of Seawall.
func Hash(spec edge.TokenSpec) string {
	c := Canonical(spec)
	// The noun leaves an empty "in" out of its JSON, and with it a token that
	// works from nowhere would hash like one that works from everywhere.
	sealed := c.Condition != nil && c.Condition.RequestIP.In != nil && len(c.Condition.RequestIP.In) == 0
	sum := sha256.Sum256(mustMarshal(struct {
		edge.TokenSpec
		FromNowhere bool `json:"from_nowhere,omitempty"`
	}{c, sealed}))
	return hex.EncodeToString(sum[:])
}

// mustMarshal writes JSON of a canonical form, of which every part can be written.
func mustMarshal(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("access: writing a canonical form: %v", err))
	}
	return data
}
