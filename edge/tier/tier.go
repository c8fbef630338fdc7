// Package tier has what the plan of a zone includes of rules: how many, of which actions, and
// which rate limits. The table (tiers.txt) is data, each row with its source:
//
//	limits, known := tier.Of("free", "http_ratelimit")
//	lacks := limits.Rule(members) // "takes a period of 10 seconds, not 60"
//
// Of a plan or a phase that is not in the table nothing is known, and nothing is said. Where the
// vendor's documents and its service are known to differ, the service counts. A plan says nothing
// of add-ons: where they may include more, the table has "*".
package tier

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seawall-dev/seawall/edge/expression"
)

//go:embed tiers.txt
var tiersText string

// Limits are what a plan has in a phase.
type Limits struct {
	Plan, Phase string

	Rules   int      // how many a zone may have; 0: not known to be bounded
	Actions []string // nil: all

	// Of rate limits. In seconds; nil: all.
	Periods           []int
	Timeouts          []int
	ChallengeTimeouts []int    // of an action that challenges
	Characteristics   []string // nil: all

	noResponse, noCounting bool
}

// Of is what a plan has in a phase; false where that is not known.
func Of(plan, phase string) (*Limits, bool) {
	l, known := table()[[2]string{plan, phase}]
	return l, known
}

// Plans are the plans in the table, from the least to the highest.
var Plans = expression.Plans

// table is by plan and phase.
var table = sync.OnceValue(func() map[[2]string]*Limits {
	all := map[[2]string]*Limits{}
	for line := range strings.Lines(tiersText) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, " | ")
		if len(cells) != 3+len(Plans) {
			panic(fmt.Sprintf("tier: %q has %d cells", line, len(cells)))
		}
		before := ""
		for i, plan := range Plans {
			cell := cells[2+i]
			if more, is := strings.CutPrefix(cell, "="); is {
				cell = strings.TrimSpace(before + more)
			}
			before = cell
			key := [2]string{plan, cells[0]}
			if all[key] == nil {
				all[key] = &Limits{Plan: plan, Phase: cells[0]}
			}
			all[key].set(cells[1], cell)
		}
	}
	return all
})

// set takes in one cell of the table.
func (l *Limits) set(what, cell string) {
	var words []string
	if cell != "*" {
		words = strings.Fields(cell)
	}
	switch what {
	case "rules":
		if seconds := numbers(words); len(seconds) > 0 {
			l.Rules = seconds[0]
		}
	case "actions":
		l.Actions = words
	case "period":
		l.Periods = numbers(words)
	case "timeout":
		l.Timeouts = numbers(words)
	case "timeout of a challenge":
		l.ChallengeTimeouts = numbers(words)
	case "characteristics":
		l.Characteristics = words
	case "response":
		l.noResponse = cell == "no"
	case "counting expression":
		l.noCounting = cell == "no"
	default:
		panic(fmt.Sprintf("tier: %q is not known", what))
	}
}

func numbers(words []string) (all []int) {
	for _, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil {
			panic(fmt.Sprintf("tier: %q is no number", word))
		}
		all = append(all, n)
	}
	return all
}

// Periods are the seconds that the service knows for a period of a rate limit on any plan: those
// of the vendor's table of rate limits by plan, which has more than its page on parameters.
var Periods = []int{10, 15, 20, 30, 40, 45, 60, 90, 120, 180, 240, 300, 480, 600, 900, 1200, 1800, 2400, 3600, 65535, 86400}

// among reports whether a list has a value; nil has all.
func among[T comparable](list []T, value T) bool { return list == nil || slices.Contains(list, value) }

// listed is a list as people read it: "a, b and c".
func listed[T any](list []T) string {
	texts := make([]string, len(list))
	for i, one := range list {
		texts[i] = fmt.Sprint(one)
	}
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:len(texts)-1], ", ") + " and " + texts[len(texts)-1]
}
