package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// MostHold bounds a hold: what is longer belongs into the repository.
const MostHold = 30 * 24 * time.Hour

// Why a hold is not set.
var (
	ErrNoLength = errors.New("the length of the hold is missing")
	ErrTooLong  = errors.New("a hold is too long")
	ErrNoReason = errors.New("the reason of the hold is missing")
)

// CheckHold says what is wrong with a hold.
func CheckHold(length time.Duration, reason string) error {
	switch {
	case length <= 0:
		return ErrNoLength
	case length > MostHold:
		return fmt.Errorf("%w: %s is longer than %s", ErrTooLong, length, MostHold)
	case strings.TrimSpace(reason) == "":
		return ErrNoReason
	}
	return nil
}

// NewHold is a hold on the zones of a key. Where nothing is known of it, it may be the name of a zone.
func NewHold(name string, zones []edge.Scope, now time.Time, length time.Duration, reason string) diff.Hold {
	if len(zones) == 0 && desired.ZoneName(name) {
		called, _ := desired.ByItsName(desired.Account{}, desired.Zone{Name: name, Scope: edge.ZoneScope("")})
		zones = []edge.Scope{called}
	}
	ids := slices.Compact(slices.SortedFunc(slices.Values(zones), edge.Scope.Compare))
	return diff.Hold{Zone: name, Scopes: ids, Until: now.Add(length).Truncate(time.Second), Reason: reason}
}

// ZonesNamed are the zones of a key in any account: by their ids or, where these are not known, by
// their names on the platform.
func ZonesNamed(state desired.State, key string) (ids []edge.Scope) {
	for account, zone := range state.EachZone() {
		if zone.Key != key {
			continue
		}
		id := zone.Scope
		if name, declared := desired.ByItsName(account, zone); declared && desired.Sought(id.ID) {
			id = name
		}
		if id.ID != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

func declaredAs(state desired.State, name string) (ids []edge.Scope) {
	for _, zone := range state.EachZone() {
		if zone.Key == name {
			ids = append(ids, zone.Scope)
		}
	}
	return ids
}

// ZonesOfHold are all zones that a new hold on a name concerns: those that have the name, and
// those of the hold in whose place it comes.
func ZonesOfHold(state desired.State, holds []diff.Hold, name string) []edge.Scope {
	ids := declaredAs(state, name)
	for _, h := range holds {
		if h.Zone == name && !h.Reverted() {
			ids = append(ids, h.Scopes...)
		}
	}
	return ids
}

// HeldNames are the names whose holds are ended for the zones of a name: that one, and the
// names by which these zones were held. concerned are all zones that this releases.
func HeldNames(state desired.State, holds []diff.Hold, name string) (names []string, concerned []edge.Scope) {
	ids := slices.Concat(ZonesNamed(state, name), declaredAs(state, name))
	holds, names = diff.Find(holds, state), []string{name}
	for _, h := range holds {
		of := slices.ContainsFunc(ids, func(id edge.Scope) bool { return h.Scope == id || slices.Contains(h.Scopes, id) })
		if of && !slices.Contains(names, h.Zone) {
			names = append(names, h.Zone)
		}
	}
	concerned = declaredAs(state, name)
	for _, h := range holds {
		switch {
		case !slices.Contains(names, h.Zone):
		case h.Reverted():
			concerned = append(concerned, h.Scope)
		default:
			concerned = append(append(concerned, h.Scopes...), declaredAs(state, h.Zone)...)
		}
	}
	return names, concerned
}

// Release ends the holds of names, and reports whether there was one.
func Release(ctx context.Context, memory *ledger.Ledger, names []string, now time.Time) (held bool, err error) {
	for _, name := range names {
		one, err := memory.Release(ctx, name, now)
		if held = held || one; err != nil {
			return held, err
		}
	}
	return held, nil
}
