package compile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/expression"
)

// others reads what kinds beside deployments declare in a zone or an account. waf are its
// deployments.
func (r *reader) others(path string, in both, waf []member) (all []desired.Other) {
	for _, d := range desired.Declarations {
		if before, behind, of := cutPath(d.Path); of {
			for _, one := range waf {
				all = append(all, r.othersAt(at(path, append(before, one.key)...), d, one.both, behind, one.key)...)
			}
			continue
		}
		all = append(all, r.othersAt(path, d, in, d.Path, "")...)
	}
	slices.SortFunc(all, func(a, b desired.Other) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Of, b.Of))
	})
	r.othersOnce(path, all)
	r.orders(path, all)
	return all
}

// cutPath cuts a path at the key of a deployment; false where it has none.
func cutPath(path []string) (before, behind []string, of bool) {
	i := slices.Index(path, desired.OfDeployment)
	if i < 0 {
		return nil, nil, false
	}
	return slices.Clone(path[:i]), path[i+1:], true
}

// othersAt reads what a kind declares below labels; of is the deployment that it is of.
func (r *reader) othersAt(path string, d desired.Declaration, f both, labels []string, of string) (all []desired.Other) {
	for _, label := range labels {
		path, f = path+"."+label, f.field(label)
	}
	for _, m := range f.members() {
		o := r.other(path, d, m)
		o.Of = of
		all = append(all, o)
	}
	return all
}

// othersOnce refuses one key for what two deployments have: both would be the same rule.
func (r *reader) othersOnce(path string, sorted []desired.Other) {
	for i, o := range sorted {
		if i > 0 && sorted[i-1].Kind == o.Kind && sorted[i-1].Key == o.Key {
			first := sorted[i-1]
			r.unit.Problems = append(r.unit.Problems, twoPlaces(at(path, o.Path()...), o.Origin,
				fmt.Sprintf("deployment %q has one with the key %q, too: both would be the same rule", first.Of, o.Key), first.Origin))
		}
	}
}

// unmanaged reads what a zone says of rules of others: of a kind below rules by its label.
func unmanaged(zone both) (all []desired.OfOthers) {
	for _, d := range desired.Declarations {
		if f := zone.field("rules").field("unmanaged").field(d.Path[len(d.Path)-1]); f.exists() && d.Path[0] == "rules" {
			all = append(all, desired.OfOthers{Kind: d.Kind, Do: desired.Unmanaged(f.text()), Origin: f.origin()})
		}
	}
	slices.SortFunc(all, func(a, b desired.OfOthers) int { return cmp.Compare(a.Kind, b.Kind) })
	return all
}

func (r *reader) other(path string, d desired.Declaration, m member) desired.Other {
	var values map[string]any
	data, err := m.value.MarshalJSON()
	if err == nil {
		decoder := json.NewDecoder(strings.NewReader(string(data)))
		decoder.UseNumber()
		err = decoder.Decode(&values)
	}
	o, newErr := desired.NewOther(d.Kind, m.key, m.origin(), values)
	if err = cmp.Or(err, newErr); err != nil {
		r.problem(m.origin(), at(path, m.key), err.Error(), "")
	}
	if owner, asked := o.Answers(); asked && !(desired.Accepted{Owner: owner}).Owned() {
		r.unowned = append(r.unowned, unowned{m.field(d.Owner).origin(), at(path, m.key) + "." + d.Owner, owner})
	}
	for v := range o.Members() {
		f := m.both
		for _, label := range strings.Split(v.Path, ".") {
			f = f.field(label)
		}
		if text, is := v.Value.(string); is && (v.Path == d.Expression || v.Path == d.Counting) {
			r.ruleExpression(at(path, m.key)+"."+v.Path, f, text, expression.For{Phase: string(d.Phase), Counting: v.Path == d.Counting})
		}
		if from := f.origin(); !from.IsZero() {
			if o.Places == nil {
				o.Places = map[string]desired.Origin{}
			}
			o.Places[v.Path] = from
		}
	}
	r.rule(at(path, m.key), o)
	return o
}

// findings warns of rules that may not be meant as they are.
func (r *reader) findings(path string, z desired.Zone) {
	for _, f := range r.finder.Find(z) {
		origin := cmp.Or(f.Places["expression"], f.Origin)
		r.warn(origin, at(path, append(f.Path(), "expression")...), f.Message, f.Hint)
	}
}
