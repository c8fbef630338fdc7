package mem

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// Quirk is a named way in which a real server may behave. Those of this package
// are about meaning and hold in memory too; edge/sim adds those of transport.
type Quirk struct {
	Name     string
	Argument Argument
	Matches  string // which requests it touches; with a count, which are counted
	Does     string // what the server then does
	Imitates string // the observation it rests on
}

// Argument says what follows the name of a quirk after "=".
type Argument string

// The kinds of arguments. With [Count] N, every Nth matching request is
// touched: 1 means each of them. A quirk's counter starts at zero when the
// quirk is set. A [Number] is a count of what the quirk says. A [Date] is a day
// in UTC, as 2027-01-31. [Zones] are ids with commas between them, and [ZonesFor]
// has a duration after a colon. An argument with "|" lists the words that are
// allowed.
const (
	None     Argument = ""
	Count    Argument = "N"
	Number   Argument = "number"
	Duration Argument = "DURATION"
	Date     Argument = "DATE"
	Zones    Argument = "ZONE_ID"
	ZonesFor Argument = "ZONE_ID:DURATION"
	Style    Argument = "replace|merge|ignored"
)

// Usage is the quirk as a person writes it: "throttle=N".
func (q Quirk) Usage() string {
	switch q.Argument {
	case None:
		return q.Name
	case Number:
		return q.Name + "=N"
	default:
		return q.Name + "=" + string(q.Argument)
	}
}

// Names of the quirks of this package.
const (
	QuirkPatch          = "patch"
	QuirkReorder        = "reorder"
	QuirkDefaults       = "defaults"
	QuirkOmitEmptyRules = "omit-empty-rules"
	QuirkRulesetBump    = "ruleset-bump"
	QuirkQuota          = "quota"
)

// Quirks returns the table of the quirks of this package, in the order in which
// they are best read.
func Quirks() []Quirk { return slices.Clone(quirks) }

var quirks = []Quirk{
	{
		Name: QuirkPatch, Argument: Style, Matches: "updates of a rule",
		Does: "replace (what happens without the quirk): the body is the rule's new definition and what it leaves out is lost; " +
			"merge: absent members keep, objects merge, arrays replace as a whole, a null says nothing; " +
			"ignored: a valid body is accepted, versions and last_updated are new, and the rule stays as it was",
		Imitates: "the service has been seen to replace; the reference does not say, and its two procedures read as if it merged; " +
			"servers that accept a write and do not keep it",
	},
	{
		Name: QuirkReorder, Matches: "answers with rules, with tokens, and with permission groups",
		Does: "overrides.rules, lists of tokens and of permission groups, the policies of a token and the groups of a policy come " +
			"in the opposite order; categories never do, their order has meaning",
		Imitates: "servers that keep rule overrides and policies as sets, and lists in no order",
	},
	{
		Name: QuirkDefaults, Matches: "answers with rules",
		Does: "what a rule leaves out is filled in: enabled true, description empty, ref the rule's id, and for an execute rule " +
			"action_parameters.version latest; nothing inside overrides, where a filled-in member would change the effect",
		Imitates: "servers that answer with more than they were sent",
	},
	{
		Name: QuirkOmitEmptyRules, Matches: "answers with a ruleset that has no rules",
		Does:     "the member rules is missing instead of an empty array",
		Imitates: "the service leaves rules out of an empty ruleset at times",
	},
	{
		Name: QuirkRulesetBump, Argument: Count, Matches: "reads of one managed ruleset",
		Does:     "before the answer the ruleset gets version + 1 and a new last_updated; its rules stay",
		Imitates: "managed rulesets are published anew about every week, in the middle of anything",
	},
	{
		Name: QuirkQuota, Argument: Number, Matches: "creations of a token",
		Does:     "a user has at most N tokens, where it is 50 without the quirk; one more is refused with 400",
		Imitates: "the quota that a user's tokens have, used up by others",
	},
}

// ParseQuirks reads a list of NAME or NAME=VALUE against a table and returns
// the values by name. It refuses unknown names (telling the nearest), values
// that do not fit, and a name given twice.
func ParseQuirks(table []Quirk, list []string) (map[string]string, error) {
	values := map[string]string{}
	for _, item := range list {
		name, value, _ := strings.Cut(item, "=")
		i := slices.IndexFunc(table, func(q Quirk) bool { return q.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown quirk %q%s", name, suggest(table, name))
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("quirk %s is given twice", name)
		}
		if err := table[i].Argument.check(value); err != nil {
			return nil, fmt.Errorf("quirk %q: write %s: %w", item, table[i].Usage(), err)
		}
		values[name] = value
	}
	return values, nil
}

func (a Argument) check(value string) error {
	if check, ok := argumentChecks[a]; ok {
		return check(value)
	}
	if !slices.Contains(strings.Split(string(a), "|"), value) {
		return fmt.Errorf("%q is none of them", value)
	}
	return nil
}

var argumentChecks = map[Argument]func(string) error{
	None: func(value string) error {
		if value != "" {
			return errors.New("it takes no value")
		}
		return nil
	},
	Count: func(value string) error {
		return checkNumber(value, "the count is a whole number from 1, every Nth matching request")
	},
	Number:   func(value string) error { return checkNumber(value, "it takes a whole number from 1") },
	Duration: checkDuration,
	Date: func(value string) error {
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return errors.New("a day is written such as 2027-01-31")
		}
		return nil
	},
	Zones: checkZones,
	ZonesFor: func(value string) error {
		zones, after, _ := strings.Cut(value, ":")
		return errors.Join(checkZones(zones), checkDuration(after))
	},
}

func checkNumber(value, want string) error {
	if n, err := strconv.Atoi(value); err != nil || n < 1 {
		return errors.New(want)
	}
	return nil
}

func checkDuration(value string) error {
	if d, err := time.ParseDuration(value); err != nil || d < 0 {
		return errors.New("a duration is written such as 250ms")
	}
	return nil
}

func checkZones(list string) error {
	for id := range strings.SplitSeq(list, ",") {
		if !edge.ValidID(id) {
			return fmt.Errorf("%q is no zone id: it has 32 hexadecimal digits; several have commas between them", id)
		}
	}
	return nil
}

// suggest names the quirk that a misspelt name may have meant, or all of them.
func suggest(table []Quirk, name string) string {
	names := make([]string, len(table))
	for i, q := range table {
		names[i] = q.Name
	}
	if near := nearest.Word(name, names); near != "" {
		return ": did you mean " + table[slices.Index(names, near)].Usage() + "?"
	}
	return ": the quirks are " + strings.Join(names, ", ")
}
