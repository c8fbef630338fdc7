package mem

import (
	"fmt"

	"github.com/seawall-dev/seawall/edge"
)

// The rulesets below have the structure of the service's and rules of our own.

type detection struct {
	ref, description string
	paranoia         int
	tags             []string
	off              bool // disabled unless overridden
}

var coreDetections = []detection{
	{"method-enforcement", "Method is not allowed by policy", 1, []string{"protocol"}, false},
	{"content-length", "Content-Length is not a number", 1, []string{"protocol"}, false},
	{"host-missing", "Host header is missing", 1, []string{"protocol"}, false},
	{"scanner-agent", "User agent of a security scanner", 1, []string{"scanner"}, false},
	{"path-traversal", "Path traversal", 1, []string{"lfi"}, false},
	{"system-file", "Access to a file of the system", 1, []string{"lfi"}, false},
	{"remote-file", "Inclusion of a remote file", 1, []string{"rfi"}, false},
	{"command-unix", "Execution of a Unix command", 1, []string{"rce"}, false},
	{"php-open-tag", "PHP open tag in a parameter", 1, []string{"php", "rce"}, false},
	{"xss-script-tag", "Cross-site scripting by a script tag", 1, []string{"xss"}, false},
	{"sqli-tautology", "SQL injection by a tautology", 1, []string{"sqli"}, false},
	{"sqli-union", "SQL injection by a union", 1, []string{"sqli"}, false},
	{"session-fixation", "Session id in a parameter", 1, []string{"broken-authentication"}, false},
	{"wordpress-login", "Brute force on a WordPress login", 1, []string{"wordpress", "broken-authentication"}, false},
	{"wordpress-xmlrpc", "WordPress XML-RPC call", 1, []string{"wordpress"}, true},
	{"charset", "Character set is not allowed", 2, []string{"protocol"}, false},
	{"xss-handler", "Cross-site scripting by an event handler", 2, []string{"xss"}, false},
	{"sqli-comment", "SQL comment sequence", 2, []string{"sqli"}, false},
	{"command-windows", "Execution of a Windows command", 2, []string{"rce"}, false},
	{"header-missing", "Accept header is missing", 3, []string{"protocol"}, false},
	{"sqli-special-characters", "Many special characters", 3, []string{"sqli"}, false},
	{"character-range", "Characters outside of a narrow range", 4, []string{"protocol"}, false},
	{"xss-any-tag", "Any HTML tag", 4, []string{"xss"}, false},
}

// coreRuleID is the id of the nth rule of the core ruleset, counted from 1.
func coreRuleID(n int) edge.RuleID {
	return edge.RuleID(fmt.Sprintf("c04e00000000000000000001%08x", n))
}

func coreRuleset() edge.Ruleset {
	rules := make([]edge.Rule, 0, len(coreDetections)+1)
	for i, d := range coreDetections {
		rules = append(rules, edge.Rule{
			ID: coreRuleID(i + 1), Version: "1", Action: edge.ActionBlock,
			Categories:  append([]string{edge.ParanoiaTag(d.paranoia)}, d.tags...),
			Description: new(d.description), LastUpdated: seededAt, Ref: d.ref, Enabled: new(!d.off),
		})
	}
	// The outcome of the whole ruleset; 40 and block are the service's defaults.
	rules = append(rules, edge.Rule{
		ID: coreRuleID(len(rules) + 1), Version: "1", Action: edge.ActionBlock, ScoreThreshold: new(40),
		Description: new("Anomaly score is over the threshold"), LastUpdated: seededAt, Ref: "anomaly-score", Enabled: new(true),
	})
	return managedRuleset(CoreRuleset, "Core Ruleset", "Detections that add up to an anomaly score", rules)
}

// credentialsRuleset shares the core ruleset's phase and kind, and its last rule
// has no threshold.
func credentialsRuleset() edge.Ruleset {
	var rules []edge.Rule
	for i, ref := range []string{"leaked-basic", "leaked-form", "leaked-json"} {
		rules = append(rules, edge.Rule{
			ID: edge.RuleID(fmt.Sprintf("c04e00000000000000000002%08x", i+1)), Version: "1", Action: edge.ActionManagedChallenge,
			Categories: []string{"exposed-credentials"}, Description: new("Sign-in with a leaked password"),
			LastUpdated: seededAt, Ref: ref, Enabled: new(true),
		})
	}
	return managedRuleset(CredentialsRuleset, "Exposed Credentials", "Sign-ins with leaked passwords", rules)
}

func managedRuleset(id edge.RulesetID, name, description string, rules []edge.Rule) edge.Ruleset {
	return edge.Ruleset{
		ID: id, Name: name, Description: description, Source: "firewall_managed", Kind: edge.KindManaged,
		Version: "1", LastUpdated: seededAt, Phase: edge.PhaseFirewallManaged, Rules: rules,
	}
}

// customRuleset carries the core ruleset's name and is none: a search by name
// alone finds it first.
func customRuleset() edge.Ruleset {
	return edge.Ruleset{
		ID: CustomRuleset, Name: "Core Ruleset", Description: "A team's own rules", Kind: "custom",
		Version: "1", LastUpdated: seededAt, Phase: "http_request_firewall_custom",
		Rules: []edge.Rule{{
			ID: "c04e0000000000000000000300000001", Version: "1", Action: edge.ActionBlock, Expression: `http.request.uri.path eq "/old"`,
			Description: new("Old entrance"), LastUpdated: seededAt, Ref: "old-entrance", Enabled: new(true),
		}},
	}
}
