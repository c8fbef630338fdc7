package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/visible"
)

// The words for skip rules. What whoever may write to the zone has chosen stands between
// quotes ([visible.Value]), so that a description cannot read like the rest of a sentence.

// About names the deployment.
func (b Bypass) About() string { return NameOf(b.Account, b.Zone, b.Deployment, "") }

// Title names the rule by what people call it: its description, its ref, or else its id.
func (b Bypass) Title() string {
	switch {
	case b.Description != "":
		return "skip rule " + visible.Value(b.Description)
	case b.Ref != "" && b.Ref != string(b.Rule):
		return "skip rule with ref " + visible.Value(b.Ref)
	}
	return "skip rule " + visible.Name(string(b.Rule))
}

// Where says in which phase the rule stands, of the zone or of its account.
func (b Bypass) Where() string {
	return fmt.Sprintf("%s of the %s", visible.Name(string(b.Phase)), b.Level)
}

// Skips says what is off: all of the deployment, or which rules of it.
func (b Bypass) Skips() string {
	if b.All {
		return "all of " + visible.Name(b.Deployment)
	}
	var names []string
	for _, r := range b.Rules[:min(len(b.Rules), mostMembers)] {
		name := visible.Name(string(r.ID))
		if r.Description != "" {
			name += " " + visible.Value(r.Description)
		}
		names = append(names, name)
	}
	return fmt.Sprintf("%s of %s: %s", words.Count(len(b.Rules), "rule", "rules"), visible.Name(b.Deployment), words.First(names, len(b.Rules)))
}

// Requests says for which requests it is off.
func (b Bypass) Requests() string {
	if b.Always {
		return "each request: " + visible.Value(b.Expression)
	}
	return "requests that match " + visible.Value(b.Expression)
}

// Standing says what is known of the rule beside what it does.
func (b Bypass) Standing() string {
	if b.Remove {
		return b.standing() + "; Seawall removes it"
	}
	return b.standing()
}

func (b Bypass) standing() string {
	owner := ""
	if b.Owner != "" {
		owner = " by " + visible.Value(b.Owner)
	}
	switch b.State {
	case BypassFound:
		return "there since the first look"
	case BypassNew:
		return "new since the deployment was last proved"
	case BypassChanged:
		return "changed since the deployment was last proved"
	case BypassAccepted:
		if b.Until != "" {
			return fmt.Sprintf("accepted%s until %s", owner, visible.Name(b.Until))
		}
		return "accepted" + owner + " without an end"
	case BypassElsewhere:
		return "for zones of other names; the platform has not told the name of this one"
	case BypassDiffers:
		return "not as it was accepted" + owner
	case BypassExpired:
		return fmt.Sprintf("accepted%s until %s, which is over", owner, visible.Name(b.Until))
	}
	return visible.Name(strings.ReplaceAll(string(b.State), "_", " "))
}

// String says all of it in a line.
func (b Bypass) String() string {
	where, id := b.Where(), visible.Name(string(b.Rule))
	if !strings.HasSuffix(b.Title(), " "+id) {
		where += ", id " + id
	}
	text := fmt.Sprintf("%s (%s) skips %s for %s; %s", b.Title(), where, b.Skips(), b.Requests(), b.Standing())
	if !b.Origin.IsZero() {
		text += " (" + visible.Name(b.Origin.File) + fmt.Sprintf(":%d)", b.Origin.Line)
	}
	return text
}

// NotLooked says in a line in which places nobody has looked for skip rules, and why; empty
// where there are none. Places of several accounts with the same reason are one.
func NotLooked(all []NotLookedAt) string {
	type place struct {
		level  edge.Level
		phase  edge.Phase
		reason string
	}
	zones, accounts := map[place]int{}, map[place]int{}
	var places []place
	for _, n := range all {
		p := place{n.Level, n.Phase, n.Reason}
		if accounts[p] == 0 {
			places = append(places, p)
		}
		zones[p] += n.Zones
		accounts[p]++
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.phase, b.phase), cmp.Compare(a.reason, b.reason))
	})
	var said []string
	for _, p := range places {
		of := words.Count(zones[p], "zone", "zones")
		if p.level == edge.LevelAccount {
			of = words.Count(accounts[p], "account", "accounts") + " with " + of
		}
		said = append(said, fmt.Sprintf("%s of %s (%s)", visible.Name(string(p.phase)), of, visible.Text(p.reason)))
	}
	if len(said) == 0 {
		return ""
	}
	return "Seawall has not looked for skip rules in " + strings.Join(said, "; ")
}
