package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// bypass says where skip rules are looked for that may turn deployments off.
func (d *diagnosis) bypass(_ context.Context, f *findings) {
	if len(d.Bypass.Phases) == 0 {
		f.ok("bypass", "off: skip rules in earlier phases of zones may turn deployments off, and are not looked for")
		f.addHint(`set bypass: phases: ["http_request_firewall_custom"] to look for them: one request more for each zone`)
		return
	}
	f.ok("bypass", "skip rules are looked for in %s of zones, once in %s", strings.Join(d.Bypass.Phases, " and "), d.Bypass.Every)
}

// customPhase says of an account, by its list of rulesets, where its own skip rules cannot be
// read; nothing where they can, or where it has none.
func customPhase(ctx context.Context, platform *client.Client, lane setup.Credential, account desired.Account, listed []edge.Ruleset, f *findings) {
	if err := zone.AccountAhead(ctx, platform, account.ID, listed).Failed(); err != nil {
		unreadPhase(lane, account, err, f)
	}
}

// unreadPhase says that the custom phase of an account cannot be read.
func unreadPhase(lane setup.Credential, account desired.Account, err error, f *findings) {
	var hints []string
	if errors.Is(err, edge.ErrForbidden) {
		hints = []string{"give the token of " + lane.Path + " the permission Account WAF: Read or Account Rulesets: Read for account " + string(account.ID)}
	}
	f.warn("account "+account.Key, fmt.Sprintf("its custom phase cannot be read, so skip rules there that turn deployments off are not seen: %v", err), hints...)
}

// earlierPhases says which of the phases that are looked at cannot be read in a zone.
func (d *diagnosis) earlierPhases(ctx context.Context, platform edge.Reader, lane setup.Credential, z desired.Zone, f *findings) {
	for _, phase := range d.Bypass.Phases {
		err := zone.PlaceAhead(ctx, platform, z.Scope.At(edge.Phase(phase))).Failed()
		if err == nil {
			continue
		}
		var hints []string
		if errors.Is(err, edge.ErrForbidden) {
			hints = []string{"give the token of " + lane.Path + " the permission Zone WAF: Read for this zone"}
		}
		f.warn("zone "+z.Key, fmt.Sprintf("%s cannot be read, so skip rules there are not seen: %v", phase, err), hints...)
	}
}
