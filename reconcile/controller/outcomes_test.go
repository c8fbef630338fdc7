package controller

import (
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/reconcile/inspect"
)

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
