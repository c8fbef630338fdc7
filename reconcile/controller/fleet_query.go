package controller

import (
	"encoding/base64"
	"encoding/json"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Fleet returns a page of the declared zones that a query selects, with counts. The error is
// [inspect.ErrAfter] where no page can begin there. It costs a look at each row in memory; of
// a query that selects all zones only at those of the page.
func (c *Controller) Fleet(q inspect.FleetQuery) (inspect.Fleet, error) { return c.view().page(q) }

// Grid returns the outcomes of all zones that a query selects. It costs a look at each row.
func (c *Controller) Grid(q inspect.FleetQuery) (grid inspect.Grid) {
	rows := c.fleet.rlock()
	defer c.fleet.mu.RUnlock()
	want := newSelection(q)
	if want.all {
		grid.Outcomes, grid.Scopes = make([]inspect.Outcome, 0, len(rows.all)), make([]edge.Scope, 0, len(rows.all))
	}
	for _, r := range rows.selected(want, 0, new(outcomeCounts)) {
		grid.Outcomes = append(grid.Outcomes, outcomesInOrder[r.outcome])
		grid.Scopes = append(grid.Scopes, desired.KnownScope(r.zone.Scope))
	}
	return grid
}

// Visible returns the zones that someone may see, and their accounts. It costs a look at each row.
func (c *Controller) Visible(may func(inspect.ZoneLabels) bool) (zones map[edge.Scope]bool, accounts map[edge.AccountID]bool) {
	rows := c.fleet.rlock()
	defer c.fleet.mu.RUnlock()
	zones, accounts = map[edge.Scope]bool{}, map[edge.AccountID]bool{}
	for _, r := range rows.selected(selection{may: may}, 0, new(outcomeCounts)) {
		zones[r.zone.Scope], accounts[r.account.ID] = true, true
	}
	return zones, accounts
}

// Changed returns how often anything that a page shows has changed, and a channel that is
// closed soon after the next change.
func (c *Controller) Changed() (count uint64, next <-chan struct{}) { return c.fleet.changes.Changed() }

func (v view) page(q inspect.FleetQuery) (inspect.Fleet, error) {
	page := inspect.Fleet{Version: inspect.Version, At: v.now, Zones: []inspect.Row{}}
	want, held := newSelection(q), diff.HoldsOn(v.control.Holds())
	rows := v.fleet.rlock()
	defer v.fleet.mu.RUnlock()
	first, err := rows.after(q.After)
	if err != nil {
		return page, err
	}
	if rows.g != nil {
		page.Commit = rows.g.State.Commit
	}
	most := inspect.MostRows
	if q.Limit > 0 {
		most = min(most, q.Limit)
	}
	begin, counts := 0, rows.counts
	if want.all {
		begin = first
	}
	if want.may != nil {
		counts = outcomeCounts{}
	}
	page.Zones = make([]inspect.Row, 0, min(most, len(rows.all)))
	var last *row
	for i, r := range rows.selected(want, begin, &counts) {
		page.Matches++
		switch {
		case i < first:
		case len(page.Zones) < most:
			page.Zones, last = append(page.Zones, v.row(r, held, want.may != nil)), r
		case page.Next == "":
			page.Next = placeOf(last)
		}
		if want.all && page.Next != "" {
			break
		}
	}
	if page.Declared, page.Outcomes = byOutcome(counts); want.all {
		page.Matches = page.Declared
	}
	return page, nil
}

// selected ranges over the rows from a place on that a query selects. Where who asks may not see
// all, it counts those in seen that they may.
func (rs *rows) selected(want selection, begin int, seen *outcomeCounts) iter.Seq2[int, *row] {
	return func(yield func(int, *row) bool) {
		for i := begin; i < len(rs.all); i++ {
			r := &rs.all[i]
			if want.may != nil {
				if !want.may(r.may()) {
					continue
				}
				seen[r.outcome]++
			}
			if want.selects(r) && !yield(i, r) {
				return
			}
		}
	}
}

// byOutcome are counts by outcome, each outcome with its own, and their sum.
func byOutcome(counts outcomeCounts) (sum int, outcomes map[inspect.Outcome]int) {
	outcomes = make(map[inspect.Outcome]int, len(outcomesInOrder))
	for i, outcome := range outcomesInOrder {
		outcomes[outcome] = counts[i]
		sum += counts[i]
	}
	return sum, outcomes
}

// row is a zone in a list; alone is for who may not see all of them.
func (v view) row(r *row, held func(string, edge.Scope) (diff.Hold, bool), alone bool) inspect.Row {
	outcome := outcomesInOrder[r.outcome]
	d, decided := r.last.notable.worst(outcome)
	if !decided && outcome == inspect.Pending {
		d.Reason = notChecked
	}
	if alone {
		d = d.Alone()
	}
	_, isHeld := held(r.zone.Key, r.zone.Scope)
	return inspect.Row{
		Zone: r.zone.Key, Scope: desired.KnownScope(r.zone.Scope), Account: r.account.Key, Labels: r.labels, Origin: r.zone.Origin.At(v.g.State.Commit),
		Outcome: outcome, Reason: d.Reason, Since: d.Since, Approve: r.last.notable.approve(), LookedAt: v.outcomes.time(r.last.at),
		Held: isHeld, May: r.may(),
	}
}

// approve is the first digest that a person may approve; empty for none.
func (n *notable) approve() string {
	if n == nil {
		return ""
	}
	i := slices.IndexFunc(n.decisions, func(d inspect.Decision) bool { return d.Approve != "" })
	if i < 0 {
		return ""
	}
	return n.decisions[i].Approve
}

// selection is a query, ready to be asked about each row.
type selection struct {
	may      func(inspect.ZoneLabels) bool
	all      bool // it selects every zone, and who asks may see each
	account  string
	outcomes uint32      // a bit for each; 0: all
	labels   [][2]string // a key and its value
	text     string      // in lower case
}

func newSelection(q inspect.FleetQuery) selection {
	s := selection{may: q.May, account: q.Account, text: strings.ToLower(q.Text)}
	for _, outcome := range q.Outcomes {
		s.outcomes |= 1 << outcome.Severity()
	}
	for key, value := range q.Labels {
		s.labels = append(s.labels, [2]string{key, value})
	}
	s.all = s.may == nil && s.account == "" && s.outcomes == 0 && len(s.labels) == 0 && s.text == ""
	return s
}

// selects reports whether a zone is one of those that are asked for.
func (s *selection) selects(r *row) bool {
	if s.outcomes != 0 && s.outcomes&(1<<r.outcome) == 0 || s.account != "" && s.account != r.account.Key {
		return false
	}
	for _, label := range s.labels {
		if value, has := r.labels[label[0]]; !has || value != label[1] {
			return false
		}
	}
	return s.text == "" || strings.Contains(r.name, s.text) || strings.Contains(r.id, s.text)
}

// placeOf is the place of a row in the list, whatever becomes of the row: where the page after
// it begins.
func placeOf(r *row) string {
	text, _ := json.Marshal([3]string{r.zone.Key, string(r.zone.Scope.Level), r.zone.Scope.ID}) // strings cannot fail
	return base64.RawURLEncoding.EncodeToString(text)
}

// after is the first row after a place.
func (rs *rows) after(place string) (first int, err error) {
	if place == "" {
		return 0, nil
	}
	var parts []string
	text, err := base64.RawURLEncoding.Strict().DecodeString(place)
	if err == nil {
		err = json.Unmarshal(text, &parts)
	}
	if err != nil || len(parts) != 3 {
		return 0, inspect.ErrAfter
	}
	scope := edge.Scope{Level: edge.Level(parts[1]), ID: parts[2]}
	return sort.Search(len(rs.all), func(i int) bool { return compare(&rs.all[i], parts[0], scope) > 0 }), nil
}
