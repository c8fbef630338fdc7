package rule

import (
	"github.com/seawall-dev/seawall/edge"
)

// step is where a rule is among the live ones, and where it goes.
type step struct {
	turn     int
	live     []edge.Rule // without those that go
	at       int         // its index among them; behind them all where it is added
	stays    bool
	position *edge.Position
	behind   string // where it stands then, as [place] says it
	rest     []int  // the rules behind it then, by their indexes: those of live, and behind them those that are added
}

// forward reports whether a live rule that moves comes to stand further in front.
func (s step) forward() bool {
	return s.position != nil && s.position.Before != nil && byID(s.live, *s.position.Before) < s.at
}

// next is the first of all live rules that is behind the rule once it is written, while nothing else
// is, by its index.
func (s step) next(all []edge.Rule) int {
	switch {
	case s.stays:
		return byID(all, s.live[s.at].ID) + 1
	case s.position == nil || s.position.Before == nil:
		return len(all)
	default:
		return byID(all, *s.position.Before)
	}
}

// positionOf is the place directly in front of the next rule that stays; nil is the end.
func positionOf(behind []int, live []edge.Rule, stay []bool) *edge.Position {
	for _, i := range behind {
		if stay[i] {
			return &edge.Position{Before: &live[i].ID}
		}
	}
	return nil
}

// placeBehind is the place behind those that come before.
func placeBehind(before []int, rules []placed, live []edge.Rule) string {
	if len(before) == 0 {
		return atFirst
	}
	i := before[len(before)-1]
	if i < len(live) {
		return place(live, i)
	}
	return behindRef + rules[i].ref
}

// The words of a place. A rule without a ref is known by its id.
const (
	atFirst   = "first"
	behindRef = "after "
	behindID  = "after the rule with the id "
)

// place says where what comes behind rules[i] stands: behind which other one, or first.
func place(rules []edge.Rule, i int) string {
	switch {
	case i < 0:
		return atFirst
	case rules[i].Ref == "":
		return behindID + string(rules[i].ID)
	default:
		return behindRef + rules[i].Ref
	}
}
