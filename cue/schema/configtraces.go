package schema

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"golang.org/x/net/http/httpguts"

	"github.com/seawall-dev/seawall/edge/outbound"
)

// Traces says where traces go.
type Traces struct {
	Endpoint string               `cue:"endpoint"` // https, or http to the loopback or with Insecure
	Headers  map[string]SecretRef `cue:"headers"`
	Sample   float64              `cue:"sample"`  // above 0, up to 1
	CAFile   string               `cue:"ca_file"` // absolute; empty for the system's authorities
	Insecure bool                 `cue:"insecure"`
}

// checkTraces: CUE knows neither addresses nor headers.
func (c *configReader) checkTraces(t *Traces) {
	if t == nil {
		return
	}
	c.checkURL("traces.endpoint", t.Endpoint, "is not a URL") // which may contain a password
	for _, name := range slices.Sorted(maps.Keys(t.Headers)) {
		if !httpguts.ValidHeaderFieldName(name) {
			c.problem(cue.MakePath(cue.Str("traces"), cue.Str("headers"), cue.Str(name)).String(), "is not the name of an HTTP header", "")
		}
	}
	u, err := url.Parse(t.Endpoint)
	if err != nil || u.Scheme != "http" {
		return
	}
	switch away := !outbound.Loopback(u.Hostname()); {
	case away && !t.Insecure:
		c.problem("traces.endpoint", fmt.Sprintf("%q is http to another machine", t.Endpoint), "use https, or set insecure: true")
	case away && len(t.Headers) > 0:
		c.problem("traces.headers", "would be sent unencrypted", "use https")
	}
	if t.CAFile != "" {
		c.problem("traces.ca_file", "can be used only with an https address", "")
	}
}

// tracesPath is where a collector takes traces.
const tracesPath = "/v1/traces"

// URL is the complete address.
func (t Traces) URL() string {
	return strings.TrimSuffix(strings.TrimRight(t.Endpoint, "/"), tracesPath) + tracesPath
}
