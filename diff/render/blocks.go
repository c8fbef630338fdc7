package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// A block is changes that are shown once, because they are equal but for their zones and for
// where they are declared. Most are one change alone.
type block struct {
	changes []diff.Change
	indices []int // in the plan
	places  places
}

// blocksOf puts the changes of a plan that are shown into blocks, in the order in which each
// block comes first. It returns those that are not shown, by their index, too.
func blocksOf(p diff.Plan) (blocks []*block, hidden []int) {
	alike := map[string]*block{}
	for i, c := range p.Changes {
		if c.Refused.PutBack() && !p.ShowsPutBack() {
			hidden = append(hidden, i)
			continue
		}
		key := sameness(c, i)
		b := alike[key]
		if b == nil {
			b = &block{}
			alike[key] = b
			blocks = append(blocks, b)
		}
		b.changes, b.indices = append(b.changes, c), append(b.indices, i)
	}
	declares := map[desired.Origin]int{}
	for _, c := range p.Changes {
		declares[c.Origin]++
	}
	for _, b := range blocks {
		b.places = placesOf(b.changes, declares)
	}
	return blocks, hidden
}

// sameness is equal for changes that are shown as one. Only those of zones are: each token is
// one of its own.
func sameness(c diff.Change, i int) string {
	fields := slices.Clone(c.Fields)
	for i := range fields {
		fields[i].Origin = nil
	}
	key, err := json.Marshal([]any{c.Account, c.Kind, c.Deployment, c.Action(), c.Direction, fields, c.Rights, c.Refused})
	if err != nil || c.Level() == edge.LevelCredential {
		return fmt.Sprint(i)
	}
	return string(key)
}

func (b *block) first() diff.Change { return b.changes[0] }

// heading names what a block is about.
func (b *block) heading(h diff.Headings) string {
	if n := len(b.changes); n > 1 {
		return h.With(b.first(), words.Count(n, "zone", "zones"))
	}
	return h.Of(b.first())
}

// declaredAt lists what declares a block as a whole, each place quoted by quote: its
// deployments, and the zone of a change that stands alone.
func (b *block) declaredAt(quote func(string) string) string {
	var said []string
	if !b.places.declared.IsZero() {
		said = append(said, quote(b.places.declared.String()))
	}
	if len(b.changes) == 1 {
		for _, at := range b.places.zones[0] {
			said = append(said, "zone at "+quote(at.String()))
		}
	}
	return strings.Join(said, ", ")
}

// besideZone lists the places that one zone of a block has for itself.
func (b *block) besideZone(i int, quote func(string) string) string {
	var said []string
	for _, at := range b.places.zones[i] {
		said = append(said, quote(at.String()))
	}
	return strings.Join(said, ", ")
}

// places are where the changes of a block are declared. A place that several of them have,
// such as a tier, stands once. What a zone declares itself stands beside it.
type places struct {
	declared desired.Origin     // of most deployments
	fields   []desired.Origin   // of each field, in most of them
	zones    [][]desired.Origin // of each zone: its own line, and the places that differ
}

func placesOf(changes []diff.Change, declares map[desired.Origin]int) places {
	p := places{zones: make([][]desired.Origin, len(changes))}
	for i, c := range changes {
		if c.Origin.IsZero() || declares[c.Origin] > 1 || !within(c.Origin, c.ZoneOrigin) {
			p.beside(i, c.ZoneOrigin)
		}
	}
	p.declared = p.common(changes, func(c diff.Change) desired.Origin { return c.Origin })
	for n := range changes[0].Fields {
		p.fields = append(p.fields, p.common(changes, func(c diff.Change) desired.Origin {
			if at := c.Fields[n].Origin; at != nil {
				return *at
			}
			return desired.Origin{}
		}))
	}
	return p
}

// within reports whether a deployment can be declared inside of its zone's declaration: in
// the same file, and not above it.
func within(deployment, zone desired.Origin) bool {
	return deployment.File == zone.File && cmp.Or(cmp.Compare(deployment.Line, zone.Line), cmp.Compare(deployment.Column, zone.Column)) >= 0
}

// common is the place that most changes have for something, zero where each has another one.
// One that differs stands beside its zone.
func (p *places) common(changes []diff.Change, of func(diff.Change) desired.Origin) (most desired.Origin) {
	counts, highest := map[desired.Origin]int{}, min(len(changes)-1, 1)
	for _, c := range changes {
		at := of(c)
		if counts[at]++; counts[at] > highest {
			most, highest = at, counts[at]
		}
	}
	for i, c := range changes {
		if at := of(c); at != most {
			p.beside(i, at)
		}
	}
	return most
}

// beside adds a place to those of a zone, once for each line.
func (p *places) beside(i int, at desired.Origin) {
	known := slices.ContainsFunc(p.zones[i], func(o desired.Origin) bool { return o.File == at.File && o.Line == at.Line })
	if !at.IsZero() && !known {
		p.zones[i] = append(p.zones[i], at)
	}
}
