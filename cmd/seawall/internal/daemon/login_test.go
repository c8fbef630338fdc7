package daemon

import (
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/status"
)

// Every outcome of a login is counted.
func TestLoginOutcomes(t *testing.T) {
	var outcomes []string
	for _, o := range login.Outcomes {
		outcomes = append(outcomes, string(o))
	}
	if !slices.Equal(outcomes, status.LoginOutcomes) {
		t.Errorf("the outcomes are %v, and the metric has %v", outcomes, status.LoginOutcomes)
	}
}
