// Package edge speaks of the Edge Platform the way its reference does: accounts
// and zones, managed rulesets, a zone's entry point, the execute rule that
// deploys a managed ruleset in a zone, and the overrides that tune it.
//
// The package holds three things and imports only the standard library:
//
//   - the nouns ([Ruleset], [Rule], [Overrides], …), which keep every JSON member
//     they do not know, so that what was read can be sent back unharmed;
//   - the contract ([Platform], of [Reader] and [Writer], and that of tokens): every
//     call Seawall may make, with the errors each may return, and which of them a
//     platform offers;
//   - two views of a contract: [ReadOnly], a type that has no method that
//     writes, and [Record], which remembers the calls that went through it.
//
// Implementations mirror the contract file by file: edge/client over HTTP,
// edge/mem in memory. edge/edgetest holds both to the same behaviour.
package edge

import "fmt"

// AccountID identifies an account: 32 lower-case hexadecimal digits.
type AccountID string

// ZoneID identifies a zone: 32 lower-case hexadecimal digits.
type ZoneID string

// RulesetID identifies a ruleset: 32 lower-case hexadecimal digits.
type RulesetID string

// RuleID identifies a rule inside a ruleset: 32 lower-case hexadecimal digits.
type RuleID string

// Phase is the point of request handling at which a ruleset runs.
type Phase string

// PhaseFirewallManaged is the phase of managed WAF rulesets and of the zone
// entry points that deploy them (reference, "Ruleset").
const PhaseFirewallManaged Phase = "http_request_firewall_managed"

// Phases that run before it, known beyond the reference: a skip rule there may turn it off.
const (
	PhaseFirewallCustom Phase = "http_request_firewall_custom"
	PhaseRateLimit      Phase = "http_ratelimit"
)

// Kind tells an account's managed ruleset from a zone's entry point.
type Kind string

// The kinds the reference shows, and two that are known beyond it.
const (
	KindManaged Kind = "managed"
	KindZone    Kind = "zone"
	KindRoot    Kind = "root"   // an account's entry point
	KindCustom  Kind = "custom" // an account's own rules, to be executed
)

// Action is what a rule does when it matches. The set is open: the platform
// knows more actions than the reference shows.
type Action string

// Actions of the reference, "Rule".
const (
	ActionExecute          Action = "execute"
	ActionBlock            Action = "block"
	ActionManagedChallenge Action = "managed_challenge"
	ActionJSChallenge      Action = "js_challenge"
	ActionChallenge        Action = "challenge"
	ActionLog              Action = "log"
)

// ActionSkip turns later rules off for the requests that match, see [Skip]. It is known beyond
// the reference.
const ActionSkip Action = "skip"

// ValidID reports whether id has the form of every platform id: 32 lower-case
// hexadecimal digits.
func ValidID(id string) bool {
	if len(id) != 32 {
		return false
	}
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// MaxParanoia is the highest paranoia level; levels count from 1
// (reference, "Overrides").
const MaxParanoia = 4

// ParanoiaTag returns the tag of the rules that belong to a paranoia level.
func ParanoiaTag(level int) string {
	if 0 < level && level <= MaxParanoia {
		return paranoiaTags[level-1]
	}
	return fmt.Sprintf("paranoia-level-%d", level)
}

var paranoiaTags = [MaxParanoia]string{"paranoia-level-1", "paranoia-level-2", "paranoia-level-3", "paranoia-level-4"}

// ParanoiaLevel returns the level a tag stands for, and whether it is a
// paranoia tag at all.
func ParanoiaLevel(tag string) (int, bool) {
	for level := 1; level <= MaxParanoia; level++ {
		if tag == ParanoiaTag(level) {
			return level, true
		}
	}
	return 0, false
}
