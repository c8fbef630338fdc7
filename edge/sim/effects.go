package sim

import (
	"fmt"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Effect is what a rule of the calendar does to this server.
type Effect struct {
	Rule   string
	Day    string // from which on it shows, for people
	Before string // what the server does until then
	From   string // and from then on
	// Imitated is false where the reference states no effect that a server could
	// have; Before says why, and From is empty.
	Imitated bool
}

// Effects says of every rule of a calendar what the server makes of it. A rule
// with calls that go away is imitated whatever it is about; what else changes is
// known of the reference's own rules only.
func Effects(c deprecation.Calendar) []Effect {
	effects := make([]Effect, len(c.Rules))
	for i, r := range c.Rules {
		effects[i] = effectOf(r)
	}
	return effects
}

func effectOf(r deprecation.Rule) Effect {
	e, known := stated[r.ID]
	switch {
	case known:
	case len(r.Endpoints) > 0:
		e = Effect{Before: callsBefore, From: callsFrom, Imitated: true}
	default:
		e = Effect{Before: "not imitated: the simulator does not know what the rule does to answers"}
	}
	e.Rule = r.ID
	if e.Day == "" {
		e.Day = string(r.Date)
	}
	if r.EndOfLife.Date() != "" {
		e.Day = string(r.EndOfLife)
	}
	if r.Extended != "" {
		e.Day = fmt.Sprintf("%s, comma lists %s", r.Date, r.Extended)
	}
	return e
}

const (
	callsBefore = "its calls: 501, the reference does not show what they answer"
	callsFrom   = "its calls: 404 with code 7003, as for any address that is none"
)

// stated are the effects that the reference states and that are more than calls
// that go away, and the rules that have none to imitate.
var stated = map[string]Effect{
	RuleFlattening: {
		Before: "`GET …/settings/cname_flattening` answers `{id, value}` with off; `PATCH` answers the value that it was sent",
		From:   "404 with code 7003", Imitated: true,
	},
	"account-nameserver-settings": {
		Before: "not imitated: neither the calls nor what the values map to are shown. The calls that carry the fields: 501",
	},
	RuleFilters: {
		Before: "a list with a filter in an older syntax has the records",
		From:   "it is empty", Imitated: true,
	},
	RuleZoneFields: {
		Before: "DNS records in answers have `zone_id` and `zone_name`; in bodies both are ignored",
		From:   "they do not; still ignored", Imitated: true,
	},
	RuleErrorChain: {
		Before: "an invalid DNS record: code 1004, `DNS Validation Error`, the root causes in `error_chain`",
		From:   "the root causes are the errors", Imitated: true,
	},
	RuleLocked: {
		Before: "DNS records in answers have `locked`, which is false; in bodies it is ignored",
		From:   "they do not; still ignored", Imitated: true,
	},
	RuleSRV: {
		Day:    "not dated; the quirk `srv-end-of-life=DATE`, or a calendar that has a day",
		Before: "answers have `service`, `proto` and `name` in `data`, made of the outer name; in bodies they make the outer name",
		From:   "answers do not have them; a body with one of them: 400", Imitated: true,
	},
	ruleLengths: {
		Before: "a request with both `Transfer-Encoding` and `Content-Length` is answered as if it had one",
		From:   "it is declined with 400", Imitated: true,
	},
	"notification-email": {
		Before: "not imitated: the reference names no call that carries the field",
	},
}
