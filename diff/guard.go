package diff

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Guard passes a plan through every guard. Guards are functions from plan to
// plan: a refused change stays where it is, with the reason and with what would
// release it. The first refusal counts.
func Guard(plan Plan, facts Facts) Plan {
	refuse := func(guard func(Change) *Refusal) {
		for i := range plan.Changes {
			if plan.Changes[i].Refused == nil {
				plan.Changes[i].Refused = guard(plan.Changes[i])
			}
		}
	}
	plan.Changes = append([]Change{}, plan.Changes...)
	plan.Problems = refuseCommit(plan.Problems, facts)
	refuse(func(Change) *Refusal { return refuseShrunk(facts) })
	refuse(refuseUndecided)
	refuse(func(c Change) *Refusal { return refuseToken(c, facts) })
	refuse(func(c Change) *Refusal { return refuseNonConvergent(c, facts) })
	return plan.seal()
}

// refuseToken refuses a creation that could not do any good: one without a place
// for the secret, or with its life already over.
func refuseToken(c Change, f Facts) *Refusal {
	if c.Amendment != nil {
		return refuseAmendment(*c.Amendment, f)
	}
	if c.Creation == nil {
		return nil
	}
	if refusal := refuseName(c.Creation.nameLength()); refusal != nil {
		return refusal
	}
	if refusal := refuseOver(c.Creation.Spec.ExpiresOn, "be expired before it exists", f); refusal != nil {
		return refusal
	}
	if reason := f.Sink(c.Creation); reason != "" {
		release := "sink: {name: …, key: …} in the declaration"
		if c.Creation.Sink != nil {
			release = "a sink that takes this key: see sinks in the daemon's configuration, and the place it names"
		}
		return &Refusal{Guard: "sink", Reason: reason, Release: release}
	}
	return nil
}

// refuseAmendment refuses an update that the platform would refuse, or that would
// end a token that is in use by a date: taking it out of the repository says that
// better.
func refuseAmendment(a Amendment, f Facts) *Refusal {
	if refusal := refuseName(utf8.RuneCountInString(a.Spec.Name)); refusal != nil {
		return refusal
	}
	return refuseOver(a.Spec.ExpiresOn, "end at once", f)
}

func refuseName(characters int) *Refusal {
	if characters <= maxTokenName {
		return nil
	}
	return &Refusal{
		Guard:   "name",
		Reason:  fmt.Sprintf("with tokens.name_suffix the name would have %d characters, and the platform takes %d", characters, maxTokenName),
		Release: "a shorter name in the declaration, or a shorter suffix in the daemon's configuration",
	}
}

func refuseOver(expiresOn, would string, f Facts) *Refusal {
	if expires, err := time.Parse(time.RFC3339, expiresOn); err != nil || f.Now.Before(expires) {
		return nil
	}
	return &Refusal{
		Guard:   "expired",
		Reason:  fmt.Sprintf("the token would %s: expires_on is %s", would, expiresOn),
		Release: "a later expires_on",
	}
}

// Sink is why a token's secret could not be delivered, empty where it could.
func (f Facts) Sink(c *Creation) string {
	if c.Sink == nil {
		return "the token declares no sink for its secret"
	}
	if f.CheckSink == nil {
		return ""
	}
	if err := f.CheckSink(*c.Sink); err != nil {
		return err.Error()
	}
	return ""
}

// Facts are what guards need to know beside the plan. The zero Facts refuse
// nothing that depends on history.
type Facts struct {
	Before, After Size // what the last accepted commit declared, and what this one does
	AllowShrink   bool // a person has agreed that After may be much smaller

	// Now decides what is expired.
	Now time.Time
	// CheckSink reports why a sink could not take a secret; nil takes any.
	CheckSink func(desired.Sink) error

	// NonConvergent holds, for each deployment, the fingerprint of a change that
	// was written and not kept by the platform.
	NonConvergent map[DeploymentID]string
	// NonConvergentTokens is the same for updates of tokens.
	NonConvergentTokens map[edge.TokenID]string
}

// Size is how much a commit declares.
type Size struct {
	Zones       int
	Deployments int
	Tokens      int // zero also where it is not known: an earlier version did not remember it
}

func (s Size) String() string {
	text := plural(s.Zones, "zone", "zones") + " with " + plural(s.Deployments, "deployment", "deployments")
	if s.Tokens > 0 {
		text += " and " + plural(s.Tokens, "token", "tokens")
	}
	return text
}

// shrinkFloor is the number of zones (or deployments, or tokens) below which a repository
// may shrink as it likes, to nothing excepted: halving two zones is everyday work.
const shrinkFloor = 4

// Shrunk reports whether a commit suddenly declares nothing, or no more than
// half of what the last accepted one did.
func (f Facts) Shrunk() bool {
	return !f.AllowShrink && (shrunk(f.Before.Zones, f.After.Zones) ||
		shrunk(f.Before.Deployments, f.After.Deployments) || halved(f.Before.Tokens, f.After.Tokens))
}

func shrunk(before, after int) bool {
	emptied := before > 0 && after == 0
	return emptied || halved(before, after)
}

func halved(before, after int) bool { return before >= shrinkFloor && after*2 <= before }

func refuseShrunk(f Facts) *Refusal {
	if !f.Shrunk() {
		return nil
	}
	return &Refusal{
		Guard:   "shrink",
		Reason:  f.ShrinkReason(),
		Release: "seawall apply --allow-shrink, or a commit that declares them again",
	}
}

// refuseCommit adds, to a plan of a commit that shrinks too much, the problem
// that says so: what vanished from it has no change that could be refused.
func refuseCommit(problems []Problem, f Facts) []Problem {
	refusal := refuseShrunk(f)
	if refusal == nil {
		return problems
	}
	problem := Problem{State: Refused, Reason: refusal.Reason, Hint: "released by: " + refusal.Release}
	if slices.Contains(problems, problem) {
		return problems
	}
	return append([]Problem{problem}, problems...)
}

// ShrinkReason tells a person what [Facts.Shrunk] saw.
func (f Facts) ShrinkReason() string {
	return fmt.Sprintf("this commit declares %s where the last accepted one declared %s", f.After, f.Before)
}

func refuseUndecided(c Change) *Refusal {
	if len(c.Unmanaged) == 0 {
		return nil
	}
	names := make([]string, len(c.Unmanaged))
	for i, l := range c.Unmanaged {
		names[i] = string(l.Path)
	}
	return &Refusal{
		Guard:   "unmanaged",
		Reason:  fmt.Sprintf("live has %s that no declaration owns: %s", plural(len(names), "override", "overrides"), strings.Join(names, ", ")),
		Release: fmt.Sprintf(`unmanaged: "keep" or unmanaged: "remove" in the deployment at %s`, c.Origin),
	}
}

func refuseNonConvergent(c Change, f Facts) *Refusal {
	unkept := f.NonConvergent[c.ID()]
	if c.Amendment != nil {
		unkept = f.NonConvergentTokens[c.Amendment.ID]
	}
	if unkept == "" || unkept != c.Fingerprint() {
		return nil
	}
	names := make([]string, len(c.Fields))
	for i, field := range c.Fields {
		names[i] = string(field.Path)
	}
	return &Refusal{
		Guard:   "non_convergent",
		Reason:  "this very change was written before and the platform did not keep it: " + strings.Join(names, ", "),
		Release: "a changed declaration, a changed live state, or seawall apply, which tries it once more",
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
