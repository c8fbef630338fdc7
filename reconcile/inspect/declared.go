package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/visible"
)

// Declared is what a zone declares of one deployment, as far as it says how strict that is.
type Declared struct {
	Deployment string           `json:"deployment"`
	Members    []DeclaredMember `json:"members"`
}

// DeclaredMember is one value with its place.
type DeclaredMember struct {
	Path   string         `json:"path"`
	Value  any            `json:"value"`
	Origin desired.Origin `json:"origin"`
}

// strict are the members that say how strict a deployment is.
var strict = []string{"paranoia", "threshold.score", "threshold.action"}

// DeclaredOf is what a zone declares.
func DeclaredOf(z desired.Zone) (all []Declared) {
	for _, d := range z.Deployments {
		one := Declared{Deployment: d.Name(), Members: []DeclaredMember{}}
		for m := range d.Members() {
			if slices.Contains(strict, m.Path) || m.Path == "enabled" && m.Value == any(false) {
				m.Origin.Commit = ""
				one.Members = append(one.Members, DeclaredMember{m.Path, m.Value, m.Origin})
			}
		}
		all = append(all, one)
	}
	return all
}

// String is it in a line: core: paranoia 3 (zones.cue:4:20), threshold 40 block (tiers.cue:7:12).
func (d Declared) String() string {
	var parts []string
	for _, m := range d.Members {
		place := " (" + m.Origin.String() + ")"
		switch last := len(parts) - 1; {
		case m.Path == "enabled":
			parts = append(parts, "disabled"+place)
		case m.Path == "threshold.action" && last >= 0 && strings.HasSuffix(parts[last], place): // one line has both
			parts[last] = strings.TrimSuffix(parts[last], place) + fmt.Sprintf(" %v", m.Value) + place
		case m.Path == "threshold.action" && last >= 0:
			parts[last] += fmt.Sprintf(" %v%s", m.Value, place)
		default:
			name, _, _ := strings.Cut(m.Path, ".")
			parts = append(parts, fmt.Sprintf("%s %v%s", name, m.Value, place))
		}
	}
	if len(parts) == 0 {
		return d.Deployment + ": neither paranoia nor threshold is declared"
	}
	return d.Deployment + ": " + strings.Join(parts, ", ")
}

// Changed is the commit that last changed a declaration, or a line of one.
type Changed struct {
	Commit  string    `json:"commit,omitempty"`
	Author  string    `json:"author,omitempty"`
	Time    time.Time `json:"time,omitzero"`
	Subject string    `json:"subject,omitempty"`
	// Uncommitted: it differs from the newest commit, and the rest is empty.
	Uncommitted bool `json:"uncommitted,omitempty"`
	// Earlier: the commit is the oldest that was looked at, and an earlier one made the change.
	Earlier bool `json:"earlier,omitempty"`
}

// String is it in a line: commit 1a2b3c4d5e6f of 2026-11-20T09:12:00Z by Ada <ada@example.com>: "Raise".
func (c Changed) String() string {
	switch {
	case c.Uncommitted:
		return "not committed yet"
	case c.Earlier:
		return fmt.Sprintf("before commit %s of %s, where the known history begins", short(c.Commit), instant(c.Time))
	}
	return fmt.Sprintf("commit %s of %s by %s: %s", short(c.Commit), instant(c.Time), visible.Name(c.Author), visible.Value(c.Subject))
}
