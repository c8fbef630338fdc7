package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
)

// Size is how much a commit declares.
type Size struct {
	Zones       int
	Deployments int
	Tokens      int // zero also where it is not known: an earlier version did not remember it
	// Others are the rules that other kinds declare in zones, but those that take from protection. Zero also where it is not known:
	// the ledger remembers them with the declarations alone.
	Others int
}

func (s Size) String() string {
	with := []string{words.Count(s.Deployments, "deployment", "deployments")}
	if s.Others > 0 {
		with = append(with, words.Count(s.Others, "other rule", "other rules"))
	}
	if s.Tokens > 0 {
		with = append(with, words.Count(s.Tokens, "token", "tokens"))
	}
	return words.Count(s.Zones, "zone", "zones") + " with " + listed(with)
}

// Shrink says which commits shrink too much. The zero value is its default.
type Shrink struct {
	// Floor is the number of zones (or deployments, other rules, or tokens) below which a repository
	// may shrink as it likes, to nothing excepted; 0 is 4: halving two zones is
	// everyday work.
	Floor int
	// Percent is the share that may not go at once; 0 is 50.
	Percent int
}

const (
	shrinkFloor   = 4
	shrinkPercent = 50
)

// Shrunk reports whether a commit suddenly declares nothing, or lacks half or more
// of what the last accepted one did, whatever it adds; see [Shrink].
func (f Facts) Shrunk() bool {
	if f.AllowShrink {
		return false
	}
	return f.Shrink.lacks(f.Before, f.After) || f.Shrink.lost(f.Loss.All) || f.Shrink.lost(f.Loss.Real)
}

func (s Shrink) lost(l Lost) bool {
	return s.lacks(l.Of, Size{
		l.Of.Zones - l.Gone.Zones, l.Of.Deployments - l.Gone.Deployments, l.Of.Tokens - l.Gone.Tokens, l.Of.Others - l.Gone.Others,
	})
}

func (s Shrink) lacks(before, after Size) bool {
	return s.emptied(before.Zones, after.Zones) || s.emptied(before.Deployments, after.Deployments) ||
		s.emptied(before.Others, after.Others) || s.much(before.Tokens, after.Tokens)
}

func (s Shrink) emptied(before, after int) bool {
	return before > 0 && after == 0 || s.much(before, after)
}

func (s Shrink) much(before, after int) bool {
	floor, percent := cmp.Or(s.Floor, shrinkFloor), cmp.Or(s.Percent, shrinkPercent)
	return before >= floor && (before-after)*100 >= before*percent
}

func refuseShrunk(f Facts) *diff.Refusal {
	if !f.Shrunk() {
		return nil
	}
	return &diff.Refusal{
		Guard:   diff.GuardShrink,
		Reason:  f.ShrinkReason(),
		Release: "seawall apply --allow-shrink, or a commit that declares them again",
	}
}

// refuseCommit adds, to a plan of a commit that shrinks too much, the problem
// that says so: what vanished from it has no change that could be refused.
func refuseCommit(problems []diff.Problem, f Facts) []diff.Problem {
	refusal := refuseShrunk(f)
	if refusal == nil {
		return problems
	}
	problem := diff.Problem{State: diff.Refused, Reason: refusal.Reason, Hint: "released by: " + refusal.Release}
	if slices.ContainsFunc(problems, func(p diff.Problem) bool { return p.State == problem.State && p.Reason == problem.Reason }) {
		return problems
	}
	return append([]diff.Problem{problem}, problems...)
}

// ShrinkReason tells a person what [Facts.Shrunk] saw.
func (f Facts) ShrinkReason() string {
	switch {
	case f.Shrink.lost(f.Loss.All):
		return f.Loss.All.String() + " of the last accepted commit" + f.Loss.named()
	case f.Shrink.lost(f.Loss.Real):
		return f.Loss.Real.String() + " of the last accepted commit that are known to exist" + f.Loss.named()
	}
	return fmt.Sprintf("this commit declares %s, but the last accepted commit declared %s", f.After, f.Before)
}

// String names what is gone of what there was.
func (l Lost) String() string {
	var parts []string
	for _, p := range []struct {
		gone, of  int
		one, many string
	}{
		{l.Gone.Zones, l.Of.Zones, "zone", "zones"},
		{l.Gone.Deployments, l.Of.Deployments, "deployment", "deployments"},
		{l.Gone.Others, l.Of.Others, "other rule", "other rules"},
		{l.Gone.Tokens, l.Of.Tokens, "token", "tokens"},
	} {
		if p.gone > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s", p.gone, words.Count(p.of, p.one, p.many)))
		}
	}
	return "this commit no longer declares " + listed(parts)
}

// listed is "a, b and c".
func listed(parts []string) string {
	last := max(len(parts)-1, 0)
	and := ""
	if last > 0 {
		and = " and "
	}
	return strings.Join(parts[:last], ", ") + and + strings.Join(parts[last:], "")
}

func (l Loss) named() string {
	if len(l.Names) == 0 {
		return ""
	}
	return ": " + words.First(l.Names, len(l.Names)+l.More)
}
