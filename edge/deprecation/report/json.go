package report

import (
	"encoding/json"
	"io"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Version is the version of the JSON forms of this package.
const Version = 1

// noticeJSON is one place: the notice, where its rule, and what was met.
type noticeJSON struct {
	deprecation.Notice
	Call       callJSON     `json:"call"`
	Owner      string       `json:"owner,omitempty"`
	Address    string       `json:"address,omitempty"`
	Lines      []int        `json:"lines"`
	Count      int          `json:"count"`
	Similar    int          `json:"similar"` // that are not listed
	Suppressed *Suppression `json:"suppressed,omitempty"`
}

type callJSON struct {
	Method string `json:"method"` // empty: not known
	Path   string `json:"path"`
}

// ruleJSON counts one group.
type ruleJSON struct {
	Rule       string           `json:"rule"`
	Extended   deprecation.Date `json:"extended"`
	Info       bool             `json:"info"`
	Count      int              `json:"count"`
	Suppressed int              `json:"suppressed"`
	Unlisted   int              `json:"unlisted"`
}

// JSON writes a report for programs. What is suppressed stands apart, so that a
// program which knows nothing of suppressions reads what counts.
func (r Report) JSON(w io.Writer) error {
	notices, suppressed, rules := []noticeJSON{}, []noticeJSON{}, []ruleJSON{}
	for _, g := range r.Rules {
		rules = append(rules, ruleJSON{g.Notice.Rule, g.Notice.Extended, g.Notice.Info, g.Count, g.Suppressed, g.Unlisted})
		for _, p := range g.Places {
			if p.Suppressed == nil {
				notices = append(notices, g.notice(p))
			} else {
				suppressed = append(suppressed, g.notice(p))
			}
		}
	}
	return encode(w, struct {
		Version     int                      `json:"version"`
		At          deprecation.Date         `json:"at"`
		DataAsOf    deprecation.Date         `json:"data_as_of"`
		ExitCode    int                      `json:"exit_code"`
		Summary     Counts                   `json:"summary"`
		Notices     []noticeJSON             `json:"notices"`
		Suppressed  []noticeJSON             `json:"suppressed"`
		Rules       []ruleJSON               `json:"rules"`
		Corrections []deprecation.Correction `json:"corrections"`
		Expired     []Suppression            `json:"expired_suppressions"`
		Unused      []Suppression            `json:"unused_suppressions"`
		Inputs      []Input                  `json:"inputs"`
	}{
		Version, r.At, r.DataAsOf, r.ExitCode(), r.Counts(), notices, suppressed, rules,
		list(r.Corrections), list(r.Expired), list(r.Unused), list(r.Inputs),
	})
}

// notice is the group's notice of one place.
func (g Group) notice(p Place) noticeJSON {
	n := g.Notice
	n.Detail, n.Where = printable(p.Detail), p.Where
	if len(p.Rewrites)+p.More == 1 && len(p.Rewrites) == 1 {
		n.Rewrite = &p.Rewrites[0]
	} else {
		n.Rewrites = p.Rewrites
	}
	return noticeJSON{n, callJSON{p.Method, p.Path}, p.Owner, p.Address, list(p.Lines), p.Count, p.Similar, p.Suppressed}
}

// list makes nothing an empty list: programs loop over it.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
