package radar

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// News is a new version of a managed ruleset in an account, in numbers: what a list says of it.
type News struct {
	Account    string         `json:"account"` // its key when the version was seen
	AccountID  edge.AccountID `json:"account_id"`
	Ruleset    edge.RulesetID `json:"ruleset_id"`
	Name       string         `json:"ruleset"`
	Version    string         `json:"version"`
	FirstSeen  time.Time      `json:"first_seen"`
	Before     string         `json:"before"` // the version that was seen before it
	BeforeSeen time.Time      `json:"before_first_seen"`
	Rules      RuleCounts     `json:"rules"`
	// Zones counts the deployments, by what was declared when the version was seen; absent: it
	// is not on record.
	Zones *Counts `json:"zones,omitempty"`
}

// RuleCounts counts what differs in a ruleset itself.
type RuleCounts struct {
	Summary string `json:"summary"` // in words: "1 removed, 2 changed"
	Removed int    `json:"removed"`
	Added   int    `json:"added"`
	Changed int    `json:"changed"`
	// Members has for each member of rules in how many it has changed: enabled and action are
	// the defaults.
	Members      map[string]int `json:"changed_members,omitempty"`
	LastReplaced bool           `json:"last_replaced,omitempty"` // another rule is the last one
	Revised      int            `json:"revised"`                 // the vendor has changed what they detect, and nothing that the platform shows
}

// MemberWords says in how many rules which member has changed.
func (c RuleCounts) MemberWords() string {
	var said []string
	for _, member := range slices.Sorted(maps.Keys(c.Members)) {
		said = append(said, member+" of "+words.Count(c.Members[member], "rule", "rules"))
	}
	return strings.Join(said, ", ")
}

// Counts counts the deployments that a version concerns, by what it means for them. One may be
// counted in several members.
type Counts struct {
	Direction   Direction `json:"direction,omitempty"` // of all together; empty: protection changes in none
	Weakens     int       `json:"weakens"`
	Blocked     int       `json:"blocked"`           // their declaration cannot be applied any more
	Meanwhile   int       `json:"weakens_meanwhile"` // weaker until Seawall has written the overrides anew
	Strengthens int       `json:"strengthens"`
	Other       int       `json:"other"` // something changes, and makes no difference to protection
	Unchanged   int       `json:"unchanged"`
	Pinned      int       `json:"pinned"` // of the unchanged ones, those that name their version
	Off         int       `json:"off"`    // and those that are off
}

// Count is a part of [Counts] in words.
type Count struct {
	Direction Direction // empty: nothing changes there
	Text      string
}

// Compared is what differs between two versions of a ruleset of an account, whatever is declared
// there.
func Compared(account Account, before, after rulesets.Seen) Published {
	return Published{
		Accounts: []Account{account}, ID: after.Ruleset.ID, Name: after.Ruleset.Name,
		Versions:  []Seen{{before.Ruleset.Version, before.At}, {after.Ruleset.Version, after.At}},
		KeptSince: before.At, Rules: rulesOf(rulesets.Compare(before.Ruleset, after.Ruleset)), Groups: []Group{},
	}
}

// News is what a list says of the newest version in the first account, without zones; see
// [Published.Counts].
func (p Published) News() News {
	before, now := p.Versions[len(p.Versions)-2], p.Versions[len(p.Versions)-1]
	n := News{
		Account: p.Accounts[0].Key, AccountID: p.Accounts[0].ID, Ruleset: p.ID, Name: p.Name,
		Version: now.Version, FirstSeen: now.At, Before: before.Version, BeforeSeen: before.At,
		Rules: RuleCounts{
			Summary: p.Rules.summary, Removed: len(p.Rules.Removed), Added: len(p.Rules.Added), Changed: len(p.Rules.Changed),
			LastReplaced: p.Rules.Last != nil, Revised: p.Rules.Revised,
		},
	}
	for _, c := range p.Rules.Changed {
		for _, m := range c.Members {
			if n.Rules.Members == nil {
				n.Rules.Members = map[string]int{}
			}
			n.Rules.Members[m.Path]++
		}
	}
	return n
}

// Counts counts the deployments.
func (p Published) Counts() Counts {
	c := CountsOf(p.Classes())
	c.Unchanged, c.Pinned, c.Off = p.Unchanged, p.Pinned, p.Off
	return c
}

// CountsOf counts the deployments of classes.
func CountsOf(classes []Class) (c Counts) {
	var directions []Direction
	for _, class := range classes {
		n := len(class.Zones)
		if n == 0 {
			continue
		}
		directions = append(directions, class.Direction)
		switch {
		case class.Direction == diff.Weakens:
			c.Weakens += n
		case class.Direction == diff.Strengthens:
			c.Strengthens += n
		case class.Direction == diff.Neutral && !class.Blocked && !class.Meanwhile:
			c.Other += n
		}
		if class.Blocked {
			c.Blocked += n
		}
		if class.Meanwhile {
			c.Meanwhile += n
		}
	}
	c.Direction = together(directions)
	return c
}

// Words says what is counted, the most important first.
func (c Counts) Words() (said []Count) {
	count := func(n int, d Direction, format string) {
		if n > 0 {
			said = append(said, Count{d, fmt.Sprintf(format, words.Count(n, "zone", "zones"))})
		}
	}
	count(c.Weakens, diff.Weakens, "weakens protection in %s")
	count(c.Blocked, diff.Weakens, "blocks the declaration of %s")
	count(c.Meanwhile, diff.Weakens, "weakens it in %s until Seawall has written the overrides anew")
	count(c.Strengthens, diff.Strengthens, "strengthens it in %s")
	count(c.Other, diff.Neutral, "makes no difference to protection in %s, but something changes")
	if c.Unchanged == 0 {
		return said
	}
	same := "changes nothing in " + words.Count(c.Unchanged, "zone", "zones")
	var beside []string // that no version can change
	if c.Pinned > 0 {
		beside = append(beside, fmt.Sprintf("%d pinned to a version", c.Pinned))
	}
	if c.Off > 0 {
		beside = append(beside, fmt.Sprintf("%d off", c.Off))
	}
	if len(beside) > 0 {
		same += " (" + strings.Join(beside, ", ") + ")"
	}
	return append(said, Count{Text: same})
}
