package rule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/redact"
)

// Restore implements [diff.Kind]: a rule is as it was before a write, and one that was removed
// stands behind the same rule again. What is otherwise by now than it was written becomes a
// problem, [diff.ChangedSince].
func (k Kind) Restore(r diff.Restoration, in diff.Input) (*diff.Change, *diff.Problem) {
	observed, read := in.Live.EntryPoints[r.ID.Scope.At(k.phase)]
	if !read {
		observed.Err = errors.New("the zone was not read")
	}
	if observed.Err != nil && !errors.Is(observed.Err, edge.ErrEntryPointNotFound) {
		return nil, &diff.Problem{State: diff.Unknown, Reason: observed.Err.Error(), Err: observed.Err}
	}
	for _, m := range r.Members {
		if bytes.Contains(m.Before, []byte(redact.Mark)) {
			return nil, blocked(fmt.Errorf("%s: the history does not have the earlier value, because a secret was in it; write the rule by hand", m.Path))
		}
	}
	i := byRef(observed.Value.Rules, r.ID.Ref)
	// A rule always has an action: one without was not there.
	without := func(value func(diff.Restored) json.RawMessage) bool {
		return slices.ContainsFunc(r.Members, func(m diff.Restored) bool { return m.Path == "action" && value(m) == nil })
	}
	switch {
	case without(func(m diff.Restored) json.RawMessage { return m.Written }):
		return k.putBack(r, observed.Value, i)
	case without(func(m diff.Restored) json.RawMessage { return m.Before }):
		return nil, blocked(errors.New("a revert does not remove a rule that was added; remove its declaration, with prune: true"))
	case i < 0:
		return nil, since("the rule is gone")
	case slices.ContainsFunc(r.Members, func(m diff.Restored) bool { return m.Path == refMember }):
		return k.putInPlace(r, observed.Value, i)
	default:
		return k.setBack(r, observed.Value, i)
	}
}

func blocked(err error) *diff.Problem {
	return &diff.Problem{State: diff.Blocked, Reason: err.Error()}
}

func since(what string) *diff.Problem {
	return &diff.Problem{State: diff.ChangedSince, Reason: what, Hint: "the live state is left as it is"}
}

// setBack sets the members that were written to what they were.
func (k Kind) setBack(r diff.Restoration, live edge.Ruleset, i int) (*diff.Change, *diff.Problem) {
	rule := live.Rules[i]
	was, err := bodyOf(rule)
	if err != nil {
		return nil, blocked(err)
	}
	o := diff.RuleOperation{Do: diff.ActionUpdate, Target: diff.Target{Kind: k.name, Ref: rule.Ref, Phase: k.phase, EntryPoint: live.ID, Version: live.Version, Rule: rule.ID}}
	b := setter{Kind: k, was: was, is: maps.Clone(was)}
	for _, m := range r.Members {
		before, written, err := valuesOf(m)
		switch {
		case err != nil:
			return nil, blocked(err)
		case m.Path != orderMember:
			err = b.set(m.Path, before, written)
		case place(live.Rules, i-1) != before: // where it was written to, others may stand by now
			b.fields = append(b.fields, diff.Field{Path: orderMember, Old: written, New: before, Direction: diff.Weakens})
			if o.Position, err = positionBehind(before, live.Rules); err != nil {
				return nil, since(err.Error())
			}
		}
		if err != nil {
			return nil, blocked(err)
		}
		if m.Owned {
			o.Target.Owned = append(o.Target.Owned, m.Path)
		}
	}
	switch {
	case len(b.fields) == 0:
		return nil, nil
	case len(b.others) > 0:
		return nil, since("it was changed since: " + strings.Join(b.others, ", "))
	}
	if o.Body, err = b.is.rule(); err != nil {
		return nil, blocked(err)
	}
	b.direct()
	b.fields = judged(b.fields, b.is, behindOf(live.Rules, i, o.Position))
	return &diff.Change{Operation: o, Fields: b.fields, Direction: combined(b.fields)}, nil
}

// setter sets members of a rule back.
type setter struct {
	Kind
	was, is tree
	fields  []diff.Field
	others  []string // members that are not as they were written
}

func (b *setter) member(path diff.Member) (member, bool) {
	i := slices.IndexFunc(b.members, func(m member) bool { return m.path == path })
	switch {
	case i >= 0:
		return b.members[i], true
	case strings.HasPrefix(string(path), parametersMember+"."):
		return member{path: path, wire: string(path), direct: weakening}, true
	default:
		return member{}, false
	}
}

func (b *setter) set(path diff.Member, before, written any) error {
	m, known := b.member(path)
	if !known {
		return fmt.Errorf("the member %s is not known", path)
	}
	now := b.was.at(m.wire)
	if m.same(now, before) {
		return nil
	}
	if !m.same(now, written) {
		b.others = append(b.others, string(path))
	}
	b.is.put(m.wire, before)
	b.fields = append(b.fields, diff.Field{Path: m.path, Old: now, New: before})
	return nil
}

// direct judges the fields, once the rule is as it is to be.
func (b *setter) direct() {
	for i := range b.fields {
		f := &b.fields[i]
		if m, known := b.member(f.Path); known {
			f.Direction = m.direct(change{f.Old, f.New, b.was, b.is})
		}
	}
}

// putBack adds a rule that was removed, as it was before updates that are undone with that. Where
// one with its ref is there again, it is left as it is.
func (k Kind) putBack(r diff.Restoration, live edge.Ruleset, i int) (*diff.Change, *diff.Problem) {
	body, behind, err := k.removed(r.Members)
	if err != nil {
		return nil, blocked(err)
	}
	if i >= 0 {
		now, err := bodyOf(live.Rules[i])
		if body["logging"] == nil {
			delete(now, "logging") // the platform adds it to skip rules
		}
		if err != nil || !reflect.DeepEqual(now, body) {
			return nil, since("another rule has the ref " + r.ID.Ref + " by now")
		}
		return nil, nil
	}
	rule, err := body.rule()
	if err != nil {
		return nil, blocked(err)
	}
	position, err := positionBehind(behind, live.Rules)
	if err != nil {
		return nil, since(err.Error())
	}
	fields := whole(body, "")
	for n := range fields {
		f := &fields[n]
		if f.Old, f.New = nil, f.Old; f.Path == orderMember {
			f.New = behind
		} else if f.Path == "action" {
			f.Direction = appearing(body)
		}
	}
	fields = judged(fields, body, behindOf(live.Rules, 0, position))
	return &diff.Change{
		Direction: combined(fields), Fields: fields,
		Operation: diff.RuleOperation{
			Do: diff.ActionDeploy, Body: rule, Position: position,
			Target: diff.Target{Kind: k.name, Ref: r.ID.Ref, Phase: k.phase, EntryPoint: live.ID, Version: live.Version},
		},
	}, nil
}

// refMember is named only by the removal of a whole rule.
const refMember diff.Member = "ref"

// putInPlace makes a rule that was removed, and added once more, what it was before both.
func (k Kind) putInPlace(r diff.Restoration, live edge.Ruleset, i int) (*diff.Change, *diff.Problem) {
	rule := live.Rules[i]
	was, err := bodyOf(rule)
	if err != nil {
		return nil, blocked(err)
	}
	b := setter{Kind: k, was: was}
	before, err := b.earlier(r.Members)
	if err != nil {
		return nil, blocked(err)
	}
	body, behind, err := k.removed(before)
	if err != nil {
		return nil, blocked(err)
	}
	b.is, b.fields = body, k.fields(was, body)
	o := diff.RuleOperation{Do: diff.ActionUpdate, Target: diff.Target{Kind: k.name, Ref: rule.Ref, Phase: k.phase, EntryPoint: live.ID, Version: live.Version, Rule: rule.ID}}
	if now := place(live.Rules, i-1); now != behind {
		b.fields = append(b.fields, diff.Field{Path: orderMember, Old: now, New: behind, Direction: diff.Weakens})
		if o.Position, err = positionBehind(behind, live.Rules); err != nil {
			return nil, since(err.Error())
		}
	}
	switch {
	case len(b.fields) == 0:
		return nil, nil
	case len(b.others) > 0:
		return nil, since("it was changed since: " + strings.Join(b.others, ", "))
	}
	if o.Body, err = body.rule(); err != nil {
		return nil, blocked(err)
	}
	b.fields = judged(b.fields, body, behindOf(live.Rules, i, o.Position))
	return &diff.Change{Operation: o, Fields: b.fields, Direction: combined(b.fields)}, nil
}

// earlier are the members of a rule before it was removed. It notes those that others have changed
// since the rule was added once more.
func (b *setter) earlier(members []diff.Restored) (before []diff.Restored, err error) {
	added := false
	for _, m := range members {
		_, written, err := valuesOf(m)
		if err != nil {
			return nil, err
		}
		if of, known := b.member(m.Path); known && written != nil && !of.same(b.was.at(of.wire), written) {
			b.others = append(b.others, string(m.Path))
		}
		if added = added || m.Path == refMember; !added || m.Before != nil { // else the rule that was added has it first
			before = append(before, m)
		}
	}
	return before, nil
}

// removed is the body of a rule that was removed, and what it stood behind.
func (k Kind) removed(members []diff.Restored) (body tree, behind any, err error) {
	body = tree{}
	b, updated := setter{Kind: k}, tree{}
	for _, m := range members {
		before, _, err := valuesOf(m)
		if err != nil {
			return nil, nil, err
		}
		of, declarable := b.member(m.Path)
		_, object := before.(map[string]any)
		switch {
		case m.Path == orderMember:
			behind = before
		case declarable && (strings.Contains(string(m.Path), ".") || !object || of.wire == parametersMember): // an update has written it
			updated[of.wire] = before
		default: // as [whole] names it
			body[string(m.Path)] = before
		}
	}
	for wire, before := range updated {
		body.put(wire, before)
	}
	return body, behind, nil
}

// valuesOf are the values of a member before and after a write; nil for none.
func valuesOf(m diff.Restored) (before, written any, err error) {
	for data, into := range map[*json.RawMessage]*any{&m.Before: &before, &m.Written: &written} {
		if *data == nil {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(*data))
		d.UseNumber()
		if err := d.Decode(into); err != nil {
			return nil, nil, fmt.Errorf("%s: the history has no value: %w", m.Path, err)
		}
	}
	return before, written, nil
}

// positionBehind is the place that a text of [place] says.
func positionBehind(said any, rules []edge.Rule) (*edge.Position, error) {
	text, _ := said.(string)
	id, byItsID := strings.CutPrefix(text, behindID)
	ref, behind := strings.CutPrefix(text, behindRef)
	i := -1
	switch {
	case !behind:
		top := edge.RuleID("")
		return &edge.Position{Before: &top}, nil
	case byItsID:
		i = byID(rules, edge.RuleID(id))
	}
	if i < 0 {
		i = byRef(rules, ref)
	}
	if i < 0 {
		return nil, fmt.Errorf("the rule %s, behind which it stood, is gone", ref)
	}
	return &edge.Position{After: &rules[i].ID}, nil
}
