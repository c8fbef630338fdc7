package diff

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Summary counts zones, and tokens. A zone with several deployments counts once in each
// row that applies to any of them.
type Summary struct {
	Zones       int `json:"zones"`
	InSync      int `json:"in_sync"`
	Changed     int `json:"changed"`
	Weakening   int `json:"weakening"`
	Refused     int `json:"refused"`
	Observed    int `json:"observed,omitempty"` // differ, and are observed only
	Blocked     int `json:"blocked"`
	NotDeployed int `json:"not_deployed"`
	Unknown     int `json:"unknown"`
	Forbidden   int `json:"forbidden"`

	Tokens         int `json:"tokens"`           // declared
	TokensToCreate int `json:"tokens_to_create"` // and not refused, as with those that follow
	TokensToUpdate int `json:"tokens_to_update"`
	TokensToDelete int `json:"tokens_to_delete"`
}

// seal counts and digests: the last step after guards have spoken.
func (p Plan) seal() Plan {
	p = p.count()
	p.Digest = p.digest()
	return p
}

// WithChanges is the plan with other changes, counted anew.
func (p Plan) WithChanges(changes []Change) Plan {
	p.Changes = changes
	return p.seal()
}

// count sums up what the changes and problems come to.
func (p Plan) count() Plan {
	p.Summary = p.summarise()
	p.Requests.ToApply = 0
	for _, c := range p.Changes {
		switch {
		case !c.Applies():
		case c.Creation != nil, c.Deletion != nil:
			p.Requests.ToApply++ // nothing is read back
		default:
			p.Requests.ToApply += requestsPerChange
		}
	}
	return p
}

// digest is that of the JSON of all of the plan that does not change by itself. The
// changes may be many, so they are written one by one.
func (p Plan) digest() string {
	p.Deprecations = []deprecation.Notice{} // days left change by themselves
	p.Digest, p.GeneratedAt, p.Expiries, p.Holds = "", time.Time{}, nil, nil
	p.Requests = Requests{ToApply: p.Requests.ToApply} // the rest is about the run, and not about what it would do
	changes := p.Changes
	p.Changes = []Change{}
	const none = `"changes":[]`
	head, tail, _ := bytes.Cut(encoded(p), []byte(none))
	sum := sha256.New()
	sum.Write(head)
	sum.Write([]byte(none[:len(none)-1]))
	for i, c := range changes {
		if i > 0 {
			sum.Write([]byte(","))
		}
		sum.Write(encoded(c))
	}
	sum.Write([]byte("]"))
	sum.Write(tail)
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// requestsPerChange is one write and the read that proves it.
const requestsPerChange = 2

func (p Plan) summarise() Summary {
	const changed, weakening, refused, observed, notInSync = "changed", "weakening", "refused", "observed", "not in sync"
	zones := map[string]map[edge.ZoneID]bool{}
	mark := func(zone edge.ZoneID, rows ...string) {
		for _, row := range append(rows, notInSync) {
			if zones[row] == nil {
				zones[row] = map[edge.ZoneID]bool{}
			}
			zones[row][zone] = true
		}
	}
	create, update, remove := 0, 0, 0
	for _, c := range p.Changes {
		switch {
		case c.Creation != nil && c.Applies():
			create++
		case c.Amendment != nil && c.Applies():
			update++
		case c.Deletion != nil && c.Applies():
			remove++
		case c.Kind == KindToken:
		case c.Refused.Observed():
			mark(c.ZoneID, observed)
		case c.Refused != nil:
			mark(c.ZoneID, refused)
		case c.Direction == Weakens:
			mark(c.ZoneID, changed, weakening)
		default:
			mark(c.ZoneID, changed)
		}
	}
	for _, problem := range p.Problems {
		if problem.ZoneID != "" {
			mark(problem.ZoneID, string(problem.State))
		}
	}
	return Summary{
		Zones:       p.Summary.Zones,
		InSync:      p.Summary.Zones - len(zones[notInSync]),
		Changed:     len(zones[changed]),
		Weakening:   len(zones[weakening]),
		Refused:     len(zones[refused]),
		Observed:    len(zones[observed]),
		Blocked:     len(zones[string(Blocked)]),
		NotDeployed: len(zones[string(NotDeployed)]),
		Unknown:     len(zones[string(Unknown)]),
		Forbidden:   len(zones[string(Forbidden)]),

		Tokens:         p.Summary.Tokens,
		TokensToCreate: create, TokensToUpdate: update, TokensToDelete: remove,
	}
}

func fingerprint(v any) string {
	sum := sha256.Sum256(encoded(v))
	return hex.EncodeToString(sum[:])
}

func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		// Every value here came from JSON or is plain; this cannot happen to user input.
		panic("diff: encoding a plan: " + err.Error())
	}
	return data
}
