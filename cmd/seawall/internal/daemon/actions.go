package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// actions are what operators order on pages. Each asks for the rights of the person by the
// labels that the zones have at that moment.
type actions struct {
	heart   func() *controller.Controller // nil while it does not run
	memory  *ledger.Ledger
	reverts *reverts
	ask     func(ctx context.Context, subject string) // asks all replicas
	now     func() time.Time
	log     *slog.Logger
}

var _ page.Actions = (*actions)(nil)

// actions returns what can be ordered on pages; nil where there is no ledger.
func (d *Daemon) actions() page.Actions {
	if d.memory() == nil {
		return nil
	}
	return &actions{heart: d.heart.Load, memory: d.memory(), reverts: d.reverts, ask: d.peers.ask, now: time.Now, log: d.log}
}

var errBusy = &page.RefusedError{Status: http.StatusServiceUnavailable, Reason: "the daemon accepts no actions now", Hint: "it starts or stops: try again in some seconds"}

// errOthers is that of an action that concerns more zones than the person has a right to.
var errOthers = &page.RefusedError{
	Status: http.StatusForbidden, Reason: "a hold is by the name of a zone, and this one concerns other zones, to which you have no right",
	Hint: "ask an operator of the whole fleet",
}

// zone is a declared zone on which a person may act.
func (a *actions) zone(who login.Person, id edge.Scope) (*controller.Controller, desired.Account, desired.Zone, error) {
	heart := a.heart()
	if heart == nil {
		return nil, desired.Account{}, desired.Zone{}, errBusy
	}
	account, zone, declared := heart.Declared(id)
	labels := heart.Labels(id)
	var err error
	switch {
	case !declared || !who.May(login.Viewer, labels):
		err = &inspect.NoZoneError{Zone: id.Text()}
	case !who.May(login.Operator, labels):
		err = page.ErrMayNot
	}
	return heart, account, zone, err
}

// mayOn reports whether a person may act on all of some zones.
func mayOn(heart *controller.Controller, who login.Person, ids []edge.Scope) bool {
	return !slices.ContainsFunc(ids, func(id edge.Scope) bool { return !who.May(login.Operator, heart.Labels(id)) })
}

// ReadNow implements [page.Actions].
func (a *actions) ReadNow(ctx context.Context, who login.Person, ids []edge.Scope) (string, error) {
	slices.SortFunc(ids, edge.Scope.Compare)
	ids = slices.Compact(ids)
	var heart *controller.Controller
	subjects := map[edge.Scope]reconcile.Subject{}
	for _, id := range ids {
		h, account, zone, err := a.zone(who, id)
		if err != nil {
			return "", err
		}
		heart, subjects[id] = h, reconcile.Subject{Account: account.Key, Zone: zone.Key, Scope: id}
	}
	if heart == nil {
		return "", &page.RefusedError{Status: http.StatusBadRequest, Reason: "no zone is given", Hint: "give zones"}
	}
	some, err := heart.ReadNow(ids, func(some []edge.Scope) error {
		entries := make([]reconcile.Entry, len(some))
		for i, id := range some {
			entries[i] = ordered(reconcile.ActionRead, who, subjects[id])
		}
		return a.memory.Record(ctx, entries...)
	})
	switch {
	case errors.Is(err, controller.ErrNotBegun):
		return "", errBusy
	case err != nil:
		return "", err
	case len(some) == 0:
		return "nothing is read again: the zones were requested less than 10 seconds ago", nil
	}
	for _, id := range some {
		a.ask(ctx, askZone+"/"+id.Text())
	}
	a.tell(reconcile.ActionRead, cli.Plural(len(some), "zone", "zones"), who)
	if len(some) == 1 {
		return cli.OneLine(subjects[some[0]].Zone) + " is read now", nil
	}
	return fmt.Sprintf("%d of %s are read now", len(some), cli.Plural(len(ids), "zone", "zones")), nil
}

// ordered is an entry about what a person has ordered.
func ordered(action string, who login.Person, about reconcile.Subject) reconcile.Entry {
	return reconcile.Entry{
		Kind: reconcile.EntryDecision, Action: action, Trigger: reconcile.TriggerManual, Asked: reconcile.Asked{User: who.Name}, Subject: about,
	}
}

// tell logs what a person has ordered.
func (a *actions) tell(action, about string, who login.Person) {
	a.log.Info("an operator has ordered an action on a page", "action", action, "about", about, "by", who.Name)
}

// Hold implements [page.Actions].
func (a *actions) Hold(ctx context.Context, who login.Person, id edge.Scope, length time.Duration, reason string) (string, error) {
	heart, _, zone, err := a.zone(who, id)
	if err != nil {
		return "", err
	}
	if err := setup.CheckHold(length, reason); err != nil {
		return "", &page.RefusedError{Status: http.StatusBadRequest, Reason: err.Error(), Hint: "hold a zone for at most 30 days, and say why: a lasting state belongs in the repository"}
	}
	state, holds, err := a.standing(ctx, heart)
	if err != nil {
		return "", err
	}
	if !mayOn(heart, who, setup.ZonesOfHold(state, holds, zone.Key)) {
		return "", errOthers
	}
	hold := setup.NewHold(zone.Key, setup.ZonesNamed(state, zone.Key), a.now(), length, reason)
	if err := a.memory.Hold(ctx, hold, who.Name); err != nil {
		return "", err
	}
	heart.Heed()
	a.tell(reconcile.ActionHold, zone.Key, who)
	return cli.OneLine(zone.Key + " is " + hold.String()), nil
}

// Release implements [page.Actions].
func (a *actions) Release(ctx context.Context, who login.Person, id edge.Scope) (string, error) {
	heart, _, zone, err := a.zone(who, id)
	if err != nil {
		return "", err
	}
	state, holds, err := a.standing(ctx, heart)
	if err != nil {
		return "", err
	}
	names, concerned := setup.HeldNames(state, holds, zone.Key)
	if !mayOn(heart, who, concerned) {
		return "", errOthers
	}
	held, err := setup.Release(ledger.As(ctx, who.Name), a.memory, names, a.now())
	switch {
	case err != nil:
		return "", err
	case !held:
		return "", &page.RefusedError{Status: http.StatusConflict, Reason: "the zone is not held", Hint: "it was released, or the time of its hold is over"}
	}
	heart.Heed()
	a.tell(reconcile.ActionRelease, zone.Key, who)
	return cli.OneLine(zone.Key) + " is not held any more", nil
}

// standing is what is declared, and the holds that count.
func (a *actions) standing(ctx context.Context, heart *controller.Controller) (desired.State, []diff.Hold, error) {
	state, ok := heart.InForce()
	if !ok {
		return state, nil, errBusy
	}
	standing, err := a.memory.Standing(ctx)
	return state, diff.Active(standing.Holds, a.now(), nil), err
}
