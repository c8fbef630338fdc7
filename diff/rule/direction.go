package rule

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// change is one member before and after, in a rule before and after. A rule that is not there
// is nil.
type change struct {
	old, new any
	was, is  tree
}

// strengths are the actions from the one that lets requests pass everything to the one that lets
// none pass. Which challenge is the harder nobody can tell.
var strengths = []string{"skip", "log", "challenge", "block"}

// strength is how much a rule protects by its action. It is false for an action that is not
// known here.
func strength(action any) (int, bool) {
	name, _ := action.(string)
	if name == "js_challenge" || name == "managed_challenge" {
		name = "challenge"
	}
	i := slices.Index(strengths, name)
	return i, i >= 0
}

const (
	skips     = 0
	logs      = 1
	strongest = 3
)

// acts is what a rule does to protection by being there: 1 adds to it, -1 takes from it, and 0
// changes nothing, as one that is off does. What one does whose action is not known nobody can tell.
func acts(rule tree) (n int, known bool) {
	s, known := strength(rule.at("action"))
	switch {
	case rule.at("enabled") == false:
		return 0, true
	case !known:
		return 0, false
	case s == skips:
		return -1, true
	case s == logs:
		return 0, true
	default:
		return 1, true
	}
}

// appearing judges a rule that comes to be, or is switched on.
func appearing(rule tree) diff.Direction {
	n, known := acts(rule)
	if !known {
		return diff.Weakens
	}
	return signed(n)
}

// disappearing judges a rule that goes, or is switched off. What one recorded is not recorded any
// more then.
func disappearing(rule tree) diff.Direction {
	n, known := acts(rule)
	if s, _ := strength(rule.at("action")); !known || s == logs && rule.at("enabled") != false {
		return diff.Weakens
	}
	return signed(-n)
}

func signed(n int) diff.Direction {
	switch {
	case n > 0:
		return diff.Strengthens
	case n < 0:
		return diff.Weakens
	default:
		return diff.Neutral
	}
}

func neutral(change) diff.Direction { return diff.Neutral }

func weakening(change) diff.Direction { return diff.Weakens }

// enabling judges a rule that is switched on or off.
func enabling(c change) diff.Direction {
	if c.new == false {
		return disappearing(tree{"action": c.was.at("action")})
	}
	return appearing(c.is)
}

// logging judges what a skip rule records. It goes with the action.
func logging(c change) diff.Direction {
	switch {
	case c.new == true:
		return diff.Strengthens
	case c.new == false || c.is.at("action") == "skip":
		return diff.Weakens
	default:
		return diff.Neutral
	}
}

// skipping judges what a rule turns off. Which of two lists is the longer one is not judged.
func skipping(c change) diff.Direction {
	if c.new == nil {
		return diff.Strengthens
	}
	return diff.Weakens
}

// acting judges another action. What cannot be shown to be harmless weakens.
func acting(c change) diff.Direction {
	before, known := strength(c.old)
	after, also := strength(c.new)
	switch {
	case !known || !also || after <= before:
		return diff.Weakens
	case c.is.at("enabled") == false: // it acts on nothing
		return diff.Neutral
	default:
		return diff.Strengthens
	}
}

// rising judges a number of which more protects more, and falling one of which less does.
func rising(c change) diff.Direction { return signed(cmp.Or(numbers(c.old, c.new), -1)) }

func falling(c change) diff.Direction { return signed(cmp.Or(-numbers(c.old, c.new), -1)) }

// numbers is 1 where the second number is the larger one, -1 where it is the smaller one, and 0
// where that cannot be told.
func numbers(a, b any) int {
	x, is := number(a)
	y, also := number(b)
	if !is || !also {
		return 0
	}
	return y.Cmp(x)
}

func number(value any) (*big.Rat, bool) {
	text, _ := value.(json.Number)
	return new(big.Rat).SetString(string(text))
}

// moved judges a rule that comes to stand elsewhere: only a block that comes earlier certainly
// does not protect less. It is earlier where the rule that it comes to stand in front of is: what
// else moves does so by itself. One that is off before, or after, has a field that says what that does.
func moved(rule edge.Rule, is tree, forward bool) diff.Direction {
	switch {
	case !rule.IsEnabled(), is.at("enabled") == false:
		return diff.Neutral
	case rule.Action == "block" && forward:
		return diff.Strengthens
	default:
		return diff.Weakens
	}
}

// combined is the direction of all fields together.
func combined(fields []diff.Field) diff.Direction {
	directions := make([]diff.Direction, len(fields))
	for i, f := range fields {
		directions[i] = f.Direction
	}
	return diff.Combine(directions...)
}
