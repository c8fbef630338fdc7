package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/visible"
)

// Declared is what a zone declares of one deployment, as far as it says how strict that is. Of
// what is of another kind it says only where that is declared.
type Declared struct {
	Kind       desired.KindName `json:"kind,omitempty"` // as in [diff.ID]
	Deployment string           `json:"deployment"`
	Members    []DeclaredMember `json:"members"`
	Origin     desired.Origin   `json:"origin,omitzero"` // of what is of another kind
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
	for _, o := range z.Others {
		o.Origin.Commit = ""
		all = append(all, Declared{Kind: o.Kind, Deployment: o.Key, Members: []DeclaredMember{}, Origin: o.Origin})
	}
	return all
}

// String is it in a line: core: paranoia 3 (zones.cue:4), threshold 40 block (tiers.cue:7).
func (d Declared) String() string {
	if d.Kind != "" {
		return fmt.Sprintf("%s (%s:%d)", diff.Called(d.Kind, d.Deployment), d.Origin.File, d.Origin.Line)
	}
	var parts []string
	for _, m := range d.Members {
		place := ""
		if !m.Origin.IsZero() {
			place = fmt.Sprintf(" (%s:%d)", m.Origin.File, m.Origin.Line)
		}
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

// Places are those of a zone's declaration and of what it declares, without a commit.
func (z Zone) Places() (places []desired.Origin) {
	places = []desired.Origin{z.Origin}
	places[0].Commit = ""
	add := func(place desired.Origin) {
		if !place.IsZero() && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	for _, d := range z.Declares {
		add(d.Origin)
		for _, m := range d.Members {
			add(m.Origin)
		}
	}
	return places
}

// differences says in sentences which members differ, from declared to live, and how to keep
// those that nothing declares.
func (z Zone) differences() (lines []string) {
	for _, f := range z.Fields {
		lines = append(lines, fmt.Sprintf("Differs: %s: %s%s: declared %s → live %s.",
			diff.Called(f.Kind, f.Deployment), diff.Member(f.Path).Subject(), noted(f.Note), unset(f.Declared), unset(f.Live)))
	}
	for _, l := range z.Undecided {
		was := ""
		if l.Was != nil {
			was = fmt.Sprintf(", and %s when last proved", value(l.Was))
		}
		lines = append(lines, fmt.Sprintf("Not in git: %s: %s%s: live %s%s.", diff.Called(l.Kind, l.Deployment), diff.Member(l.Path).Subject(), noted(l.Note), unset(l.Live), was))
	}
	if len(z.Undecided) > 0 && z.Scope.Level != edge.LevelAccount {
		lines = append(lines, "To keep what is live: seawall absorb "+z.Zone+" declares it.")
	}
	return lines
}

// noted is a note in brackets; empty for none.
func noted(note string) string {
	if note == "" {
		return ""
	}
	return " (" + note + ")"
}

// unset is a value, or that there is none.
func unset(v any) string {
	if v == nil {
		return "unset"
	}
	return value(v)
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

// declaredLine begins a sentence about what a deployment declares.
const declaredLine = "Declared: "

// WithChanged is a zone with the commit that last changed its declaration, or why that is not
// known.
func (z Zone) WithChanged(c *Changed, unknown string) Zone {
	z.Changed, z.ChangedUnknown = c, unknown
	after := min(1, len(z.Why)) // the headline
	for i, line := range z.Why {
		if strings.HasPrefix(line, declaredLine) {
			after = i + 1
		}
	}
	z.Why = slices.Insert(slices.Clone(z.Why), after, "Last change of the declaration: "+z.changed()+".")
	return z
}

// changed says when the declaration was last changed; empty where no one has looked.
func (z Zone) changed() string {
	switch {
	case z.Changed != nil:
		return z.Changed.String()
	case z.ChangedUnknown != "":
		return "not known: " + z.ChangedUnknown
	}
	return ""
}

// String is it in a line: commit 1a2b3c4d5e6f of 2026-11-20T09:12:00Z by Ada <ada@example.com>: "Raise".
func (c Changed) String() string {
	switch {
	case c.Uncommitted:
		return "not committed yet"
	case c.Earlier:
		return fmt.Sprintf("before commit %s of %s, where the known history begins", Short(c.Commit), instant(c.Time))
	}
	return fmt.Sprintf("commit %s of %s by %s: %s", Short(c.Commit), instant(c.Time), visible.Name(c.Author), visible.Value(c.Subject))
}
