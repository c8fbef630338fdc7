package once

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
)

// A report tells which members changed and, in a log, never what is in them: what stands
// in a live rule may be anything. A secret in an error conceals itself.
func TestLogShowsNoSecret(t *testing.T) {
	const secret = "sim-key-225c709542b0ce5d74da716d2c2514d2"
	f := seeded(t, mem.DefaultSeed())
	zones := []desired.Zone{{Key: "shop", Scope: mem.ShopZone}, {Key: "blog", Scope: mem.BlogZone}, {Key: "new", Scope: mem.NewZone}}
	for i := range zones {
		zones[i].Deployments = []desired.Deployment{core("xss")}
	}
	zones[1].Deployments = []desired.Deployment{removing(core("xss"))}
	f.repo.Push("c1", zones...)
	c := f.repo.Commits["c1"]
	c.State.Tokens = []desired.Token{{Key: "ci", Name: "ci", Condition: &desired.Condition{In: []string{"192.0.2.7/32"}}}}
	f.repo.Commits["c1"] = c
	f.tamper.Write = func(_ context.Context, zone edge.Scope, send send) (*edge.Ruleset, error) {
		if zone == mem.ShopZone {
			return nil, fmt.Errorf("%w: sent with %v %#v", edge.ErrUnavailable, edge.NewSecret(secret), edge.NewSecret(secret))
		}
		return send()
	}
	report, _ := f.apply(Order{})
	want := map[string]reconcile.Outcome{"shop": reconcile.Failed, "blog": reconcile.Converged}
	for _, result := range report.Results {
		if want[result.Change.Zone] != result.Outcome {
			t.Errorf("results %v", outcomes(report))
		}
	}
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	(&reconcile.Logger{Log: log}).Report(t.Context(), report)
	if len(report.Results) != 2 || !strings.Contains(out.String(), "[secret]") {
		t.Errorf("the error is not in the log:\n%s", out.String())
	}
	for _, hidden := range []string{secret, "public_key", "c2ltdWxhdGVk", "192.0.2.7"} {
		if strings.Contains(out.String(), hidden) {
			t.Errorf("%s is in the log:\n%s", hidden, out.String())
		}
	}
}
