package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/cue/schema"
)

func TestTraces(t *testing.T) {
	for _, test := range []struct {
		cue, url string
		want     *schema.Traces
	}{
		{"", "", nil},
		{
			`traces: endpoint: "https://otlp.example"`, "https://otlp.example/v1/traces",
			&schema.Traces{Endpoint: "https://otlp.example", Sample: 1},
		},
		{
			`traces: {endpoint: "https://otlp.example/otlp/", headers: "x-api-key": env: "KEY", sample: 0.25, ca_file: "/ca.pem"}`, "https://otlp.example/otlp/v1/traces",
			&schema.Traces{Endpoint: "https://otlp.example/otlp/", Headers: map[string]schema.SecretRef{"x-api-key": {Env: "KEY"}}, Sample: 0.25, CAFile: "/ca.pem"},
		},
		{
			`traces: {endpoint: "http://collector.observability:4318/v1/traces", insecure: true}`, "http://collector.observability:4318/v1/traces",
			&schema.Traces{Endpoint: "http://collector.observability:4318/v1/traces", Sample: 1, Insecure: true},
		},
		{
			`traces: {endpoint: "http://127.0.0.1:4318", headers: key: file: "/k"}`, "http://127.0.0.1:4318/v1/traces",
			&schema.Traces{Endpoint: "http://127.0.0.1:4318", Headers: map[string]schema.SecretRef{"key": {File: "/k"}}, Sample: 1},
		},
	} {
		config := loaded(t, least+test.cue)
		if diff := cmp.Diff(test.want, config.Traces); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.cue, diff)
		}
		if config.Traces != nil && config.Traces.URL() != test.url {
			t.Errorf("%s: the address is %s", test.cue, config.Traces.URL())
		}
	}
}

func TestTracesMistakes(t *testing.T) {
	for cue, want := range map[string]string{
		`traces: {}`:                                                                     `c.cue:5:1: traces.endpoint: required field is missing`,
		`traces: endpoint: "otlp.example:4317"`:                                          `c.cue:5:19: traces.endpoint: "otlp.example:4317" must be an https or http address`,
		`traces: endpoint: "http://otlp.example"`:                                        `c.cue:5:9: traces.endpoint: "http://otlp.example" is http to another machine (use https, or set insecure: true)`,
		`traces: endpoint: "https://me:pw@otlp.example"`:                                 `c.cue:5:9: traces.endpoint: must have neither user, query nor fragment`,
		`traces: endpoint: "https:///otlp"`:                                              `c.cue:5:9: traces.endpoint: is not a URL`,
		`traces: {endpoint: "https://a.example", sample: 10}`:                            `c.cue:5:49: traces.sample: 10 must be at most 1`,
		`traces: {endpoint: "https://a.example", sample: 0}`:                             `c.cue:5:49: traces.sample: 0 must be more than 0`,
		`traces: {endpoint: "https://a.example", sample: "all"}`:                         `c.cue:5:49: traces.sample: "all" is text; want a number`,
		`traces: {endpoint: "https://a.example", headers: "x y": env: "K"}`:              `c.cue:5:50: traces.headers."x y": is not the name of an HTTP header`,
		`traces: {endpoint: "https://a.example", headers: key: "s3cret-value"}`:          `c.cue:5:55: traces.headers.key: the configuration must not contain a secret (give its source: {file: "/…"}, {env: "NAME"} or {systemd: "name"}; and revoke the secret that was written here)`,
		`traces: {endpoint: "https://a.example", headers: "x-key": "s3cret-value"}`:      `c.cue:5:59: traces.headers."x-key": the configuration must not contain a secret (give its source: {file: "/…"}, {env: "NAME"} or {systemd: "name"}; and revoke the secret that was written here)`,
		`traces: {endpoint: "https://a.example", headers: key: {}}`:                      `c.cue:5:50: traces.headers.key: needs one of file, env and systemd`,
		`traces: {endpoint: "http://a.example", insecure: true, headers: key: env: "K"}`: `c.cue:5:56: traces.headers: would be sent unencrypted (use https)`,
		`traces: {endpoint: "http://127.0.0.1:4318", ca_file: "/ca.pem"}`:                `c.cue:5:45: traces.ca_file: can be used only with an https address`,
	} {
		wantMistakes(t, least+cue, want)
	}
}
