package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// TestListsAreReadOnceForALook: what is listed after a look was asked for is young enough
// for all its zones. The time of a look has a monotonic reading, so that this holds while
// the clock is set back; times under testing/synctest have none.
func TestListsAreReadOnceForALook(t *testing.T) {
	w, id := &zoneWork{lanes: &lanes{}, sweep: &turns{}, asks: newAsks()}, edge.ZoneScope("1")
	never := w.listedSince(id, time.Now())
	asked := time.Now()
	w.lanes.ask(asked)
	listed := time.Now()
	since := w.listedSince(id, time.Now())
	if !since.Equal(asked) || listed.Before(since) || never.After(since) {
		t.Errorf("lists since %v; a look was asked for at %v", since, asked)
	}
	if !strings.Contains(since.String(), " m=") {
		t.Errorf("%v has no monotonic reading", since)
	}
}
