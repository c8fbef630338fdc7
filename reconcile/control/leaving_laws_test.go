package control

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// history is a life of a repository and of the processes that follow it, and what must be
// true of it: which zones a guard has selected, and no person has let go since.
type history struct {
	*rapid.T
	records  *reconcile.Forgetful
	control  *Control
	declared map[edge.Scope]drawnZone
	keys     map[edge.AccountID]string
	commits  int

	gold     map[edge.Scope]bool                    // was declared with the label
	accounts map[edge.Scope]map[edge.AccountID]bool // was declared in these while they were observed
	home     map[edge.AccountID]string              // the key by which it was known first, or that a person agreed to
}

type drawnZone struct {
	key     string
	account edge.AccountID
	gold    bool
}

var (
	drawnZones    = []edge.Scope{edge.ZoneScope("z1"), edge.ZoneScope("z2"), edge.ZoneScope("z3")}
	drawnAccounts = []edge.AccountID{"a1", "a2"}
	guarded       = reconcile.Guards{
		Shrink:  guard.Shrink{Floor: 100},
		Rules:   []guard.Rule{{Name: "gold", Labels: guard.Labels{"tier": "gold"}, Approve: guard.ApproveWeakening}},
		Observe: []guard.Observe{{Setting: "accounts.prod.mode", Account: "prod"}},
		Accounts: guard.Accounts{
			Settings: map[string]guard.AccountSettings{"prod": {Credential: "prod"}, "own": {Credential: "own"}}, Rest: guard.AccountSettings{Credential: "top"},
		},
	}
)

// Whatever commits say of labels, keys and accounts, in whatever order zones are proved,
// leave and return, and whenever the process ends: a zone that a setting has selected is not
// weakened past it unless a person has let it leave.
func TestNoHistoryLeavesAGuard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{
			T: t, records: &reconcile.Forgetful{}, declared: map[edge.Scope]drawnZone{}, keys: map[edge.AccountID]string{"a1": "prod", "a2": "test"},
			gold: map[edge.Scope]bool{}, accounts: map[edge.Scope]map[edge.AccountID]bool{}, home: map[edge.AccountID]string{"a1": "prod", "a2": "test"},
		}
		h.start()
		h.push()
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"zone", "zone", "zone", "account", "prove", "restart", "approve"}).Draw(t, "step") {
			case "zone":
				h.zone()
				h.push()
			case "account":
				h.keys[rapid.SampledFrom(drawnAccounts).Draw(t, "account")] = rapid.SampledFrom([]string{"prod", "own", "k1", "k2"}).Draw(t, "key")
				if h.keys["a1"] == h.keys["a2"] {
					h.keys["a2"] += "-2"
				}
				h.push()
			case "prove":
				h.prove()
			case "restart":
				h.start()
				if h.control.Current() == nil {
					h.push()
				}
			case "approve":
				h.approve()
			}
			h.check()
		}
	})
}

// start begins a process over what is on record.
func (h *history) start() {
	if h.control != nil && h.Bool("saved") {
		h.must(h.control.SaveState(h.Context(), h.control.Current()))
	}
	seen := func(zone.Task) (diff.Plan, bool) { return diff.Plan{}, true }
	c, err := New(h.Context(), Config{Records: h.records, Guards: guarded, Now: time.Now, Foresee: seen})
	h.must(err)
	h.control = c
}

// Bool draws one.
func (h *history) Bool(label string) bool { return rapid.Bool().Draw(h.T, label) }

func (h *history) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// zone changes one declaration.
func (h *history) zone() {
	id := rapid.SampledFrom(drawnZones).Draw(h.T, "zone")
	if _, declared := h.declared[id]; declared && h.Bool("removed") {
		delete(h.declared, id)
		return
	}
	h.declared[id] = drawnZone{
		key: id.String() + rapid.SampledFrom([]string{"", "-renamed"}).Draw(h.T, "key"), gold: h.Bool("gold"),
		account: rapid.SampledFrom(drawnAccounts).Draw(h.T, "in"),
	}
}

// push has what is declared accepted.
func (h *history) push() {
	h.commits++
	state := desired.State{Commit: fmt.Sprint("c", h.commits)}
	for _, id := range drawnAccounts {
		a := desired.Account{Key: h.keys[id], ID: id, Zones: []desired.Zone{{Key: "anchor", Scope: edge.ZoneScope(edge.ZoneID("anchor-" + id))}}}
		for _, zoneID := range slices.SortedFunc(maps.Keys(h.declared), edge.Scope.Compare) {
			if d := h.declared[zoneID]; d.account == id {
				z := desired.Zone{Key: d.key, Scope: zoneID}
				if d.gold {
					z.Labels = map[string]string{"tier": "gold"}
				}
				a.Zones = append(a.Zones, z)
			}
		}
		state.Accounts = append(state.Accounts, a)
	}
	d, err := h.control.Propose(h.Context(), reconcile.Proposal{State: state, Commit: state.Commit})
	h.must(err)
	if d.Accepted == nil {
		h.Fatalf("commit %s was not accepted: %+v", state.Commit, d.Held)
	}
	for _, account := range drawnAccounts { // one zone of each exists for good: what goes beside it is no shrink
		if task, ok := h.control.Task(d.Accepted, edge.ZoneScope(edge.ZoneID("anchor-"+account))); ok {
			h.must(h.control.Proved(h.Context(), task, nil))
		}
	}
	for _, in := range h.accounts {
		maps.DeleteFunc(in, func(id edge.AccountID, _ bool) bool { return !h.observes(id) })
	}
	for id, z := range h.declared {
		h.gold[id] = h.gold[id] || z.gold
		if h.accounts[id] == nil {
			h.accounts[id] = map[edge.AccountID]bool{}
		}
		if h.observes(z.account) {
			h.accounts[id][z.account] = true
		}
	}
}

// observes reports whether an account is observed, by its key or by that of before.
func (h *history) observes(id edge.AccountID) bool {
	return h.home[id] == "prod" || h.keys[id] == "prod"
}

// prove has zones agree with their declarations.
func (h *history) prove() {
	all := h.Bool("all")
	for _, id := range slices.SortedFunc(maps.Keys(h.declared), edge.Scope.Compare) {
		if task, ok := h.control.Task(h.control.Current(), id); ok && (all || h.Bool("proved")) {
			h.must(h.control.Proved(h.Context(), task, nil))
		}
	}
}

// approve lets something leave, by the word of a person in another process.
func (h *history) approve() {
	record, err := h.records.Restore(h.Context())
	h.must(err)
	leaving, _ := Departures(record, guarded, h.control.Current().State)
	if len(leaving) == 0 {
		return
	}
	l := rapid.SampledFrom(leaving).Draw(h.T, "leaves")
	h.must(h.records.Approve(h.Context(), []reconcile.Approval{{Digest: l.Digest, Kind: reconcile.Approved, Who: "kim"}}))
	_, err = h.control.Tick(h.Context())
	h.must(err)
	if z, declared := h.declared[l.Scope]; declared {
		h.gold[l.Scope], h.accounts[l.Scope] = z.gold, map[edge.AccountID]bool{z.account: h.observes(z.account)}
		return
	}
	id := h.control.state.zones.memory.accounts.IDs[l.Account]
	h.home[id] = h.keys[id]
	for zoneID, in := range h.accounts {
		if h.home[id] != "prod" && h.declared[zoneID].account != id {
			delete(in, id)
		}
	}
}

// check weakens each zone, in a daemon and in a run beside it.
func (h *history) check() {
	record, err := h.records.Restore(h.Context())
	h.must(err)
	g := h.control.Current()
	for id, z := range h.declared {
		change := diff.Change{Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Account: h.keys[z.account], Zone: z.key, Scope: id, Deployment: "core", Direction: diff.Weakens}
		by, _ := h.control.Guard(g, id, diff.Plan{Changes: []diff.Change{change}})
		beside := guard.Check(diff.Plan{Changes: []diff.Change{change}}, Whole{Record: record, Guards: guarded, Before: &g.State, State: g.State, Now: time.Now()}.Judge().Facts)
		observed, maybe := h.observes(z.account), false
		for account, was := range h.accounts[id] {
			observed = observed || was && h.home[account] == "prod"
			maybe = maybe || was && h.keys[account] == "prod"
		}
		for who, plan := range map[string]diff.Plan{"the daemon": by, "a run": beside} {
			refused := plan.Changes[0].Refused
			if observed && !refused.Observed() {
				h.Fatalf("%s lets zone %s, which is observed only, be written: %+v", who, id, refused)
			}
			if h.gold[id] && refused == nil {
				h.Fatalf("%s lets zone %s be weakened past guards.gold", who, id)
			}
			if !observed && !maybe && !h.gold[id] && refused != nil && refused.Guard != diff.GuardAccount {
				h.Fatalf("%s holds zone %s back for nothing: %+v", who, id, refused)
			}
		}
	}
}
