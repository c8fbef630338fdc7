package mem

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/tier"
)

// Zones lists the zones that pass the filter, in the order of the seed.
func (c RulesetCalls) Zones(ctx context.Context, filter edge.ZoneFilter) ([]edge.Zone, error) {
	if err := c.p.enter(ctx, "GET "+edge.ZonesPath(), true); err != nil {
		return nil, err
	}
	defer c.p.mu.Unlock()
	list := []edge.Zone{}
	for _, z := range c.p.state.Zones {
		if (filter.Name == "" || filter.Name == z.Name) && (filter.Account == "" || filter.Account == z.AccountID) {
			list = append(list, c.p.describeZone(z))
		}
	}
	return list, nil
}

// Zone returns one zone.
func (c RulesetCalls) Zone(ctx context.Context, id edge.ZoneID) (edge.Zone, error) {
	call := "GET " + edge.ZonePath(id)
	if err := c.p.enter(ctx, call, true); err != nil {
		return edge.Zone{}, err
	}
	defer c.p.mu.Unlock()
	z := c.p.zone(id)
	if z == nil {
		return edge.Zone{}, notFound(call, "zone", string(id))
	}
	return c.p.describeZone(*z), nil
}

// Accounts lists all accounts, in the order of the seed.
func (c RulesetCalls) Accounts(ctx context.Context) ([]edge.Account, error) {
	if err := c.p.enter(ctx, "GET "+edge.AccountsPath(), true); err != nil {
		return nil, err
	}
	defer c.p.mu.Unlock()
	list := []edge.Account{}
	for _, a := range c.p.state.Accounts {
		list = append(list, describeAccount(a))
	}
	return list, nil
}

// ZoneSummaries lists all zones, in the order of the seed, without what only
// [RulesetCalls.Zone] has.
func (c RulesetCalls) ZoneSummaries() []edge.Zone {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	list := make([]edge.Zone, len(c.p.state.Zones))
	for i, z := range c.p.state.Zones {
		list[i] = c.p.summariseZone(z)
	}
	return list
}

func (p *Platform) summariseZone(z SeedZone) edge.Zone {
	summary := edge.Zone{ID: z.ID, Name: z.Name, Status: z.Status}
	fill(&summary.Status, "active")
	if a := p.account(z.AccountID); a != nil {
		summary.Account = edge.Account{ID: a.ID, Name: a.Name}
	}
	return summary
}

// describeZone is a zone as the vendor answers it. What the seed does not say is
// the same for all zones.
func (p *Platform) describeZone(z SeedZone) edge.Zone {
	described := p.summariseZone(z)
	described.Plan = planOf(z.Plan)
	described.Extra = map[string]json.RawMessage{
		"type": json.RawMessage(`"full"`), "paused": json.RawMessage("false"), "development_mode": json.RawMessage("0"),
		"name_servers": json.RawMessage(`["ns1.vendor.example","ns2.vendor.example"]`), "meta": json.RawMessage("{}"),
		"owner": json.RawMessage(`{"id":null,"type":"user","name":null}`), "permissions": json.RawMessage("[]"),
		"original_name_servers": json.RawMessage("null"), "original_registrar": json.RawMessage("null"), "original_dnshost": json.RawMessage("null"),
		"created_on": mustEncode(seededAt), "modified_on": mustEncode(seededAt), "activated_on": mustEncode(seededAt),
	}
	return described
}

// planOf is a plan as the vendor answers it. A zone of which the seed says none has the highest.
func planOf(plan string) *edge.Plan {
	fill(&plan, tier.Plans[len(tier.Plans)-1])
	name := strings.ToUpper(plan[:1]) + plan[1:] + " Website"
	return &edge.Plan{ID: derivedID[string]("plan", plan), Name: name, LegacyID: plan}
}

func describeAccount(a SeedAccount) edge.Account {
	return edge.Account{ID: a.ID, Name: a.Name, Extra: map[string]json.RawMessage{
		"type": json.RawMessage(`"standard"`), "created_on": mustEncode(seededAt),
		"settings": json.RawMessage(`{"enforce_twofactor":false}`),
	}}
}

// mustEncode encodes what always has a JSON form.
func mustEncode(value any) json.RawMessage {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return data
}
