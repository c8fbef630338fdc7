package controller

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// row is what is known of a declared zone. The names, labels and reasons in it are memory of
// the generation, of the proofs and of the looks: a row has only what finds them.
type row struct {
	account *desired.Account
	zone    *desired.Zone
	name    string // in lower case
	id      string // in lower case; empty where it is not known
	labels  map[string]string
	proof   control.LastProof
	last    lastLook
	looked  bool
	outcome uint8 // as it is counted: its place in outcomesInOrder
	number  int32 // as [control.Generation.Number] has it
}

// outcomesInOrder are all outcomes, the least severe first.
var outcomesInOrder = inspect.Outcomes()

// outcomeCounts counts rows by the places of their outcomes in outcomesInOrder, which are fewer.
type outcomeCounts [16]int

// as is the outcome of a zone. One that a commit declares otherwise than was proved, and that
// was not read since, is pending.
func (r *row) as() inspect.Outcome {
	switch {
	case r.last.notable != nil:
		return inspect.Worst(r.last.notable.decisions)
	case r.proof.Work:
		return inspect.Pending
	case !r.looked:
		return inspect.NotRead
	}
	return inspect.InSync
}

// may is by what it is decided who may see it, or do something about it.
func (r *row) may() inspect.ZoneLabels {
	return inspect.ZoneLabels{Declared: r.labels, Proved: r.proof.Labels}
}

// rows are those of all zones that a generation declares, sorted by name and then by scope,
// with their counts. The zero value is of no generation.
type rows struct {
	g       *control.Generation
	all     []row
	at      []int32 // the place in all of each zone, by its number
	counts  outcomeCounts
	notable set // the places of rows that are not as declared
}

// lastProofs says which declaration was proved last in a zone.
type lastProofs func(*control.Generation, edge.Scope) control.LastProof

// newRows returns the rows of a generation: those of kept that it declares, sorted, and new ones of
// the zones that differ from these. What was seen of zones before is known of them still.
func newRows(g *control.Generation, before rows, differs []edge.Scope, kept []row, proofs lastProofs) rows {
	n := g.State.Zones()
	rs := rows{g: g, all: make([]row, 0, n), at: make([]int32, n), notable: make(set, n/64+1)}
	fresh, again := make([]row, len(differs)), make(map[edge.Scope]bool, len(differs))
	for i, id := range differs {
		again[id] = true
		r := &fresh[i]
		r.declare(g, id)
		r.name, r.id, r.proof = strings.ToLower(r.zone.Key), strings.ToLower(desired.Known(id.ID)), proofs(g, id)
		if was := before.find(id); was >= 0 {
			r.last, r.looked = before.all[was].last, before.all[was].looked
		}
	}
	slices.SortFunc(fresh, func(a, b row) int { return compare(&a, b.zone.Key, b.zone.Scope) })
	for _, r := range kept {
		id := r.zone.Scope
		if again[id] || !g.Declares(id) {
			continue
		}
		for len(fresh) > 0 && compare(&fresh[0], r.zone.Key, id) < 0 {
			rs.all, fresh = append(rs.all, fresh[0]), fresh[1:]
		}
		r.declare(g, id)
		rs.all = append(rs.all, r)
	}
	rs.all = append(rs.all, fresh...)
	for i := range rs.all {
		rs.at[rs.all[i].number] = int32(i) //nolint:gosec // no fleet has as many zones
		rs.counts[rs.all[i].outcome]++
		rs.weigh(i)
	}
	return rs
}

// declare has a row be of a zone as a generation declares it.
func (r *row) declare(g *control.Generation, id edge.Scope) {
	number, _ := g.Number(id)
	r.account, r.zone = g.At(id)
	r.labels, r.number = r.zone.Labels, int32(number) //nolint:gosec // as in newRows
}

// follow has the rows be those of the next generation, which has the same zones, some of which
// differ.
func (rs *rows) follow(g *control.Generation, differs []edge.Scope, proofs lastProofs) {
	rs.g = g
	number := 0
	for i := range g.State.Accounts {
		account := &g.State.Accounts[i]
		for j := range account.Zones { // whatever points to the lists of before keeps them
			r := &rs.all[rs.at[number]]
			r.account, r.zone, r.labels = account, &account.Zones[j], account.Zones[j].Labels
			number++
		}
	}
	for _, id := range differs {
		i := rs.find(id)
		rs.all[i].proof = proofs(g, id)
		rs.weigh(i)
	}
}

// compare orders a row and the place of a zone in the list.
func compare(r *row, name string, scope edge.Scope) int {
	return cmp.Or(cmp.Compare(r.zone.Key, name), r.zone.Scope.Compare(scope))
}

// find returns the place of a zone; below zero where it is not declared.
func (rs *rows) find(id edge.Scope) int {
	if rs.g == nil {
		return -1
	}
	number, ok := rs.g.Number(id)
	if !ok {
		return -1
	}
	return int(rs.at[number])
}

// weigh has a row counted as what it is now.
func (rs *rows) weigh(i int) {
	r := &rs.all[i]
	rs.counts[r.outcome]--
	r.outcome = uint8(r.as().Severity()) //nolint:gosec // there are a dozen
	rs.counts[r.outcome]++
	rs.notable.put(i, r.last.notable != nil)
}

// notables ranges over the rows that are not as declared, in their order.
func (rs *rows) notables() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for i := range rs.notable.each() {
			if !yield(&rs.all[i]) {
				return
			}
		}
	}
}

// set is a set of small numbers: a bit for each.
type set []uint64

func (s set) put(i int, in bool) {
	s[i/64] &^= 1 << (i % 64)
	if in {
		s[i/64] |= 1 << (i % 64)
	}
}

// each ranges over the numbers in the set, in order.
func (s set) each() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
