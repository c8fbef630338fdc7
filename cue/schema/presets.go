package schema

import (
	"strings"

	"cuelang.org/go/cue"
)

// Cloudflare is the platform that a Terraform state is of: its resources are those of the
// vendor's provider.
var Cloudflare = Platform{
	BaseURL: "https://api.cloudflare.com/client/v4", Vendor: "cloudflare", Profile: "extended", ConditionKey: "request_ip",
}

// presets are the platforms that Seawall knows by name. platform.preset selects one.
var presets = map[string]Platform{
	"cloudflare": Cloudflare,
}

// PresetOf is the platform with this base URL, where Seawall knows it by name; false where
// it does not. It serves where there is no configuration that could name a preset.
func PresetOf(baseURL string) (Platform, bool) {
	for _, preset := range presets {
		if preset.BaseURL == strings.TrimRight(baseURL, "/") {
			return preset, true
		}
	}
	return Platform{}, false
}

// platform is the configured one: what is set counts, then what the preset has, then the
// default.
func platform(v, plain cue.Value) Platform {
	preset := presets[text(v, "platform.preset")]
	pick := func(field, ofPreset string) string {
		if ofPreset != "" && !at(plain, "platform."+field).Exists() {
			return ofPreset
		}
		return text(v, "platform."+field)
	}
	return Platform{
		BaseURL: pick("base_url", preset.BaseURL), Vendor: pick("vendor", preset.Vendor),
		Profile: pick("profile", preset.Profile), ConditionKey: pick("condition_key", preset.ConditionKey),
	}
}

// checkPlatform holds the platform to what a preset cannot hold by itself.
func (c *configReader) checkPlatform(p Platform) {
	if p.BaseURL == "" {
		c.problem("platform", "base_url is missing", `set base_url, or preset: "cloudflare"`)
	}
	for name, preset := range presets {
		if p.BaseURL == preset.BaseURL && p.Vendor != preset.Vendor {
			place := "platform.vendor"
			if !at(c.plain, place).Exists() {
				place = "platform.base_url"
			}
			c.problem(place, "the resource keys of "+p.BaseURL+" have the segment "+preset.Vendor+", and not "+p.Vendor,
				`set platform.preset: "`+name+`", and leave out vendor`)
		}
	}
}
