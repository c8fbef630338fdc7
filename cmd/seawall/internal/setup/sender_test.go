package setup

import (
	"testing"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/reconcile"
)

// A request under a lease says which daemon sends it; where there is one daemon, none does.
func TestSender(t *testing.T) {
	several := Settings{Config: schema.Config{Postgres: &schema.Postgres{Replica: "pod-1"}}}
	ctx := reconcile.Under(t.Context(), reconcile.Lease{Name: "credential x", Epoch: 7})
	if got := several.sender(ctx); got != "replica pod-1; epoch 7" {
		t.Errorf("it says %q", got)
	}
	if got := several.sender(t.Context()) + (Settings{}).sender(ctx); got != "" {
		t.Errorf("without a lease, or alone, it says %q", got)
	}
}
