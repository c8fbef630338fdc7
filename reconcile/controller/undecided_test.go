package controller

import (
	"context"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/edge/mem"
)

// A declaration is proved for what it decides, beside what it does not decide on: what
// differs later is drift, and is corrected. The zone is never in sync meanwhile.
func TestAZoneWithSomethingUndecided(t *testing.T) {
	for name, clicked := range map[string][]string{
		"which is written": {"php"}, "where nothing is to be written": {"php", "xss"},
	} {
		runNamed(t, name, func(t *testing.T) {
			f := newFixture(t, 1)
			f.Sweep, f.Interval = cron.Every(10*time.Minute), 10*time.Minute
			zones := fleet(1, "xss")
			zones[0].Deployments[0].Unmanaged = nil
			f.repo.Push("c1", zones...)
			f.click(1, clicked...)
			f.start()
			if got := f.off(1); got != "php,xss" {
				t.Errorf("off: %q", got)
			}
			record, err := f.records.Restore(context.Background())
			if err != nil || record.Proofs[mem.FleetZone(1)].Commit != "c1" {
				t.Errorf("proved: %+v, %v", record.Proofs, err)
			}
			f.click(1, "php")
			f.pass(20 * time.Minute)
			if got := f.off(1); got != "php,xss" {
				t.Errorf("drift is not corrected: %q", got)
			}
		})
	}
}
