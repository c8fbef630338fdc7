package controller

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Of a commit whose evaluation was ended, a status does not say only to take it back.
func TestTheFixOfAHeldCommit(t *testing.T) {
	for _, ended := range []bool{false, true} {
		held := reconcile.Held{Problems: []desired.Problem{{Message: "odd"}, {Message: "odder", Ended: ended}}}
		fix := fixOf(reconcile.Proposal{Commit: "c1"}, held)
		if strings.Contains(fix, "by itself, first after a minute") != ended || !strings.Contains(fix, "git revert c1 and push, or push a commit that corrects it") {
			t.Errorf("ended %t: %s", ended, fix)
		}
	}
}

// A token has its outcome since it had it first, however often it is looked at.
func TestDated(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	unknown := []inspect.Token{{Token: "a", Outcome: inspect.Unknown}, {Token: "b", Outcome: inspect.Unknown}}
	first := dated(slices.Clone(unknown), nil, noon)
	unknown[1].Outcome = inspect.Refused
	second := dated(slices.Clone(unknown), first, noon.Add(time.Hour))
	if !first[0].Since.Equal(noon) || !second[0].Since.Equal(noon) || !second[1].Since.Equal(noon.Add(time.Hour)) {
		t.Errorf("first %+v, then %+v", first, second)
	}
}
