package compile

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/expression"
)

// others reads what kinds beside deployments declare in a zone or an account.
func (r *reader) others(path string, in both) (all []desired.Other) {
	for _, d := range desired.Declarations {
		at, f := path, in
		for _, label := range d.Path {
			at, f = at+"."+label, f.field(label)
		}
		for _, m := range f.members() {
			all = append(all, r.other(at, d, m))
		}
	}
	slices.SortFunc(all, func(a, b desired.Other) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key)) })
	return all
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
	for v := range o.Members() {
		f := m.both
		for _, label := range strings.Split(v.Path, ".") {
			f = f.field(label)
		}
		if text, is := v.Value.(string); is && (v.Path == d.Expression || v.Path == d.Counting) {
			r.expression(at(path, m.key)+"."+v.Path, f, text, expression.For{Phase: string(d.Phase), Counting: v.Path == d.Counting})
		}
		if from := f.origin(); !from.IsZero() {
			if o.Places == nil {
				o.Places = map[string]desired.Origin{}
			}
			o.Places[v.Path] = from
		}
	}
	return o
}
