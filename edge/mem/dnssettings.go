package mem

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// DNSSettings are the fields of a zone's DNS settings that the reference names
// ("DNS settings"). Of two it does not say the type; they are taken for
// booleans. The path of the settings is not shown, so no call of the platform
// leads here: [Platform.SetDNSSettings] is what a person does in a dashboard.
type DNSSettings struct {
	FlattenAllCNAMEs   bool `json:"flatten_all_cnames"`
	MultiProvider      bool `json:"multi_provider"`
	SecondaryOverrides bool `json:"secondary_overrides"`

	ZoneDefaults ZoneDefaults `json:"zone_defaults"`
}

// ZoneDefaults are the defaults of a zone.
type ZoneDefaults struct {
	Nameservers Nameservers `json:"nameservers"`
}

// Nameservers says which nameservers a zone has.
type Nameservers struct {
	Type string `json:"type"` // one of NameserverTypes; empty: the first
}

// NameserverTypes are the values that the reference allows.
var NameserverTypes = []string{"cloudflare.standard", "cloudflare.standard.random", "custom.account", "custom.tenant"}

// flatteningValues are those of the setting that went away; the first two
// behave the same and map to false (reference, schedule of 2025-03-21). The
// reference names no default: ours is off.
var flatteningValues = []string{"off", "apex", "on"}

func flattens(value string) bool { return value == "on" }

// FlatteningPath is the address of a zone's CNAME-flattening setting.
func FlatteningPath(zone edge.ZoneID) string {
	return "/zones/" + string(zone) + "/settings/cname_flattening"
}

// CNAMEFlattening is the zone's CNAME-flattening setting: off, apex or on. Once
// the setting has gone it is an error that no such address exists.
func (p *Platform) CNAMEFlattening(ctx context.Context, zone edge.ZoneID) (value string, err error) {
	call := "GET " + FlatteningPath(zone)
	return value, p.inZone(ctx, call, zone, func(z *SeedZone, now moment) error {
		if now.over(RuleFlattening) {
			return notOffered(call)
		}
		value = z.flattening()
		return nil
	})
}

// SetCNAMEFlattening sets it, and with it flatten_all_cnames.
func (p *Platform) SetCNAMEFlattening(ctx context.Context, zone edge.ZoneID, value string) error {
	call := http.MethodPatch + " " + FlatteningPath(zone)
	return p.inZone(ctx, call, zone, func(z *SeedZone, now moment) error {
		switch {
		case now.over(RuleFlattening):
			return notOffered(call)
		case !slices.Contains(flatteningValues, value):
			return invalid(call, []edge.ErrorDetail{problem(0, "/value", "value must be one of %s", strings.Join(flatteningValues, ", "))})
		}
		settings := z.dnsSettings()
		settings.FlattenAllCNAMEs = flattens(value)
		z.DNSSettings, z.CNAMEFlattening = &settings, value
		return nil
	})
}

// DNSSettings are the zone's DNS settings.
func (p *Platform) DNSSettings(zone edge.ZoneID) (settings DNSSettings, err error) {
	return settings, p.inZone(context.Background(), "reading DNS settings", zone, func(z *SeedZone, _ moment) error {
		settings = z.dnsSettings()
		return nil
	})
}

// SetDNSSettings sets them, and the older setting with them: to on, or where it
// was on, to off.
func (p *Platform) SetDNSSettings(zone edge.ZoneID, settings DNSSettings) error {
	return p.inZone(context.Background(), "setting DNS settings", zone, func(z *SeedZone, _ moment) error {
		if err := settings.check(); err != nil {
			return err
		}
		value := z.flattening()
		switch {
		case settings.FlattenAllCNAMEs:
			value = "on"
		case flattens(value):
			value = "off"
		}
		z.DNSSettings, z.CNAMEFlattening = &settings, value
		return nil
	})
}

func (s DNSSettings) check() error {
	if kind := s.ZoneDefaults.Nameservers.Type; kind != "" && !slices.Contains(NameserverTypes, kind) {
		return fmt.Errorf("zone_defaults.nameservers.type %q is not one of %s", kind, strings.Join(NameserverTypes, ", "))
	}
	return nil
}

func (z *SeedZone) dnsSettings() DNSSettings {
	var s DNSSettings
	if z.DNSSettings != nil {
		s = *z.DNSSettings
	} else {
		s.FlattenAllCNAMEs = flattens(z.CNAMEFlattening)
	}
	fill(&s.ZoneDefaults.Nameservers.Type, NameserverTypes[0])
	return s
}

func (z *SeedZone) flattening() string {
	switch {
	case z.CNAMEFlattening != "":
		return z.CNAMEFlattening
	case z.dnsSettings().FlattenAllCNAMEs:
		return "on"
	}
	return "off"
}

// checkDNS sees that the two ways to say the same thing say the same thing.
func (z SeedZone) checkDNS() error {
	value := z.CNAMEFlattening
	if value != "" && !slices.Contains(flatteningValues, value) {
		return fmt.Errorf("cname_flattening %q is not one of %s", value, strings.Join(flatteningValues, ", "))
	}
	if z.DNSSettings == nil {
		return nil
	}
	if value != "" && flattens(value) != z.DNSSettings.FlattenAllCNAMEs {
		return fmt.Errorf("cname_flattening %q contradicts flatten_all_cnames %t", value, z.DNSSettings.FlattenAllCNAMEs)
	}
	return z.DNSSettings.check()
}
