package scenarios

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/once"
)

// A zone is proved once the last rule of others is gone, by the run that removes it, and not while
// one is still there.
func TestProvedWithoutRulesOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(start))
		s := newScene(t, "")
		s.take("zone/http_request_firewall_custom.json", []byte(`[{"ref": "a", "action": "log", "expression": "true"}, {"ref": "b", "action": "log", "expression": "true"}]`))
		s.take("shop.cue", []byte(`package edge

account: prod: zone: "shop.example": rules: unmanaged: custom: "remove"
`))
		proved := func() bool {
			record, err := s.records.Restore(t.Context())
			must.Do(t, err)
			_, is := record.Proofs[mem.ShopZone]
			return is
		}
		s.run(true).Plan(t.Context(), once.Order{})
		if proved() {
			t.Error("a plan has proved it")
		}
		if report := s.run(false).Apply(t.Context(), once.Order{}); !report.Converged() || !proved() {
			t.Errorf("proved: %v; %+v", proved(), report.Results)
		}
		record, err := s.records.Restore(t.Context())
		must.Do(t, err)
		if len(record.Applied) != 1 { // that there are none
			t.Errorf("on record: %v", record.Applied)
		}
	})
}
