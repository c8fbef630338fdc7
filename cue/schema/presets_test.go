package schema_test

import (
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
)

func TestPresets(t *testing.T) {
	preset := schema.Platform{BaseURL: "https://api.cloudflare.com/client/v4", Vendor: "cloudflare", Profile: "extended", ConditionKey: "request_ip"}
	with := func(change func(*schema.Platform)) schema.Platform {
		p := preset
		change(&p)
		return p
	}
	for text, want := range map[string]schema.Platform{
		`preset: "cloudflare"`:                                             preset,
		`{preset: "cloudflare", profile: "documented"}`:                    with(func(p *schema.Platform) { p.Profile = "documented" }),
		`{preset: "cloudflare", base_url: "http://127.0.0.1:1/client/v4"}`: with(func(p *schema.Platform) { p.BaseURL = "http://127.0.0.1:1/client/v4" }),
		`{preset: "cloudflare", condition_key: "request.ip"}`:              with(func(p *schema.Platform) { p.ConditionKey = "request.ip" }),
	} {
		config, problems := schema.LoadConfig("c.cue", []byte(strings.Replace(least, `platform: base_url: "https://api.example/client/v4"`, "platform: "+text, 1)))
		if len(desired.Errors(problems)) > 0 || config.Platform != want {
			t.Errorf("%s: %+v, %v", text, config.Platform, problems)
		}
		if config.Tokens.NameSuffix == "" == config.Platform.Extended() {
			t.Errorf("%s: the suffix is %q", text, config.Tokens.NameSuffix)
		}
	}
	for text, want := range map[string]string{
		`vendor: "acme"`:                                   "platform: base_url is missing",
		`preset: "claudflare"`:                             `platform.preset: "claudflare" is not one of cloudflare`,
		`{preset: "cloudflare", vendor: "vendor"}`:         "platform.vendor: the resource keys of https://api.cloudflare.com/client/v4 have the segment cloudflare, and not vendor",
		`base_url: "https://api.cloudflare.com/client/v4"`: "platform.base_url: the resource keys of",
	} {
		_, problems := schema.LoadConfig("c.cue", []byte(strings.Replace(least, `platform: base_url: "https://api.example/client/v4"`, "platform: "+text, 1)))
		if len(problems) == 0 || !strings.Contains(problems[0].String(), want) || problems[0].Origin.Line == 0 {
			t.Errorf("%s: %v", text, problems)
		}
	}
}
