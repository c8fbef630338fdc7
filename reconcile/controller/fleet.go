package controller

import (
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Fleet returns a page of the declared zones that a query selects, with counts. The error is
// [inspect.ErrAfter] where no page can begin at the cursor.
func (c *Controller) Fleet(q inspect.FleetQuery) (inspect.Fleet, error) {
	return inspect.Fleet{Version: inspect.Version, Outcomes: map[inspect.Outcome]int{}, Zones: []inspect.Row{}}, nil
}

// Grid returns the outcomes of all zones that a query selects.
func (c *Controller) Grid(q inspect.FleetQuery) inspect.Grid { return inspect.Grid{} }

// ZonePage says what is known of a declared zone, without its history. The error is
// [inspect.ErrNoZone] where it is not declared.
func (c *Controller) ZonePage(id edge.Scope) (inspect.ZonePage, error) {
	return inspect.ZonePage{}, &inspect.NoZoneError{Zone: id.String()}
}

// Changed returns how often anything that a page shows has changed, and a channel that is
// closed soon after the next change.
func (c *Controller) Changed() (count uint64, next <-chan struct{}) { return c.changes.Changed() }
