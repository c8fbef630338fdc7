package judge

import (
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// term is what an expression compares: a field, an element of one, or what a function returns.
// The zero value is one of which nothing is known: it may even be missing. What is known of
// others are assumptions, which hold for each request as far as the platform says; only a value
// that is certain is none.
type term struct {
	key     string
	present bool   // it is never missing
	begins  string // each value begins with it
	within  string // and has that in it
	whole   bool   // it is a number, 0 or more
	value   string // it has that value
	fixed   bool   // value is known
	certain bool   // and no assumption
	each    bool   // it is many values, [*]: only functions take it
}

// fields are those that each request has. Such a field is empty where the request lacks it; an
// element of a map or a list is missing instead, and each comparison of it false.
var fields = map[string]term{
	"http.cookie":                     {},
	"http.host":                       {},
	"http.referer":                    {},
	"http.request.full_uri":           {begins: "http", within: "://"},
	"http.request.method":             {},
	"http.request.uri":                {begins: "/"},
	"http.request.uri.path":           {begins: "/"},
	"http.request.uri.path.extension": {},
	"http.request.uri.query":          {},
	"http.request.version":            {},
	"http.user_agent":                 {},
	"http.x_forwarded_for":            {},
	"raw.http.request.full_uri":       {begins: "http", within: "://"},
	"raw.http.request.uri":            {begins: "/"},
	"raw.http.request.uri.path":       {begins: "/"},
	"raw.http.request.uri.query":      {},
	"ip.src":                          {},
	"ip.src.asnum":                    {whole: true},
	"ip.src.continent":                {},
	"ip.src.country":                  {},
	"ip.geoip.asnum":                  {whole: true},
	"ip.geoip.continent":              {},
	"ip.geoip.country":                {},
	"cf.bot_management.score":         {whole: true},
	"cf.edge.server_ip":               {},
	"cf.edge.server_port":             {whole: true},
	"cf.threat_score":                 {whole: true},
	"cf.waf.score":                    {whole: true},
	"cf.waf.score.rce":                {whole: true},
	"cf.waf.score.sqli":               {whole: true},
	"cf.waf.score.xss":                {whole: true},
	"cf.zone.name":                    {},
	"cf.zone.plan":                    {},
	"http.request.timestamp.msec":     {whole: true},
	"http.request.timestamp.sec":      {whole: true},
}

// planOfAccounts is the plan of the zones for which the platform evaluates rules of accounts.
const planOfAccounts = "ENT"

// fieldOf is what is known of a field.
func fieldOf(name string, f Facts) term {
	t, known := fields[name]
	t.present = known
	switch {
	case name == "cf.zone.name" && f.Zone != "" && isASCII(f.Zone):
		t.value, t.fixed, t.certain = strings.ToLower(f.Zone), true, f.Proved
	case name == "cf.zone.plan" && f.Level == edge.LevelAccount:
		t.value, t.fixed = planOfAccounts, true
	}
	return t
}

// conversions are functions of one argument that return something for each value.
var conversions = map[string]func(term) term{
	"lower": func(t term) term { return t.mapped(strings.ToLower) },
	"upper": func(t term) term { return t.mapped(strings.ToUpper) },
	"len":   func(t term) term { return term{present: t.present, whole: true} },
}

// mapped is the term with each text that is known of it converted. All of them are ASCII.
func (t term) mapped(convert func(string) string) term {
	t.begins, t.within, t.value = convert(t.begins), convert(t.within), convert(t.value)
	return t
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
