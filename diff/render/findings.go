package render

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge/visible"
)

const (
	// placesShown is how many tokens with the same finding are named.
	placesShown = 5
	// horizon is how long before its end a plan begins to tell of a token.
	horizon = 30 * 24 * time.Hour

	expiryHint = "set a later expires_on, or rotate; the plan then shows whether that creates a new token"
)

// remark is one thing to say of several tokens, integrations or exceptions, which changes
// nothing.
type remark struct {
	about     []remarked
	hint      string
	one, many string // of what there is more; empty for tokens
}

// remarked is one token or integration of a remark: its name, what is said of it,
// and where to look: a place in the repository or, of an end, the time.
type remarked struct{ subject, text, where string }

// remarks are the findings, a kind at a time, and the tokens that end soon.
func remarks(p diff.Plan) []remark {
	var all []remark
	for _, kind := range diff.FindingKinds() {
		var r remark
		for _, f := range p.Findings {
			if f.Kind == kind {
				r.about, r.hint = append(r.about, remarked{"token " + f.Token, f.Text, f.Origin.String()}), f.Hint
			}
		}
		all = append(all, r)
	}
	all = append(all, endings(p))
	all = append(all, declaredRemarks(p)...)
	return deleteEmpty(append(all, deprecated(p)...))
}

// declaredRemarks are those about what zones declare, a kind at a time.
func declaredRemarks(p diff.Plan) (all []remark) {
	for _, kind := range diff.RemarkKinds() {
		r := remark{one: "exception", many: "exceptions"}
		for _, one := range p.Remarks {
			if one.What == kind {
				r.about, r.hint = append(r.about, remarked{one.About(), one.Text, one.Origin.String()}), one.Hint
			}
		}
		all = append(all, r)
	}
	return all
}

func deleteEmpty(remarks []remark) []remark {
	said := remarks[:0]
	for _, r := range remarks {
		if len(r.about) > 0 {
			said = append(said, r)
		}
	}
	return said
}

// endings tells of tokens that end soon, except those that the plan itself
// replaces. At no time, which is the first there is, none of them ends soon.
func endings(p diff.Plan) remark {
	r := remark{hint: expiryHint}
	replaced := map[string]bool{}
	for _, c := range p.Changes {
		if c.Do().Renews() && c.Applies() {
			replaced[c.Token] = true
		}
	}
	for _, e := range p.Expiring(p.GeneratedAt, horizon) {
		if !replaced[e.Token] {
			r.about = append(r.about, remarked{"token " + e.Token, e.When(p.GeneratedAt), e.At.Format(time.RFC3339)})
		}
	}
	return r
}

// left counts the tokens of a remark that are not named.
func (r remark) left() int { return max(0, len(r.about)-placesShown) }

func (t *textWriter) remark(r remark) {
	for _, one := range r.about[:len(r.about)-r.left()] {
		fmt.Fprintf(t, "%s %s %s  %s\n", t.paint(yellow, "!"), t.paint(bold, visible.Name(one.subject)), visible.Text(one.text),
			t.paint(dim, visible.Name(one.where)))
	}
	if n := r.left(); n > 0 {
		fmt.Fprintf(t, "  and %s\n", words.Count(n, "more "+cmp.Or(r.one, "token"), "more "+cmp.Or(r.many, "tokens")))
	}
	fmt.Fprintf(t, "    %s %s\n\n", t.paint(bold, "hint:"), visible.Text(r.hint))
}

func markdownRemarks(b *bytes.Buffer, p diff.Plan) {
	all := remarks(p)
	if len(all) == 0 || b.Len() > markdownLimit {
		return
	}
	b.WriteString("\n#### Recommendations\n\n")
	for i, r := range all {
		if b.Len() > markdownLimit {
			fmt.Fprintf(b, "- … and %d more\n", len(all)-i)
			return
		}
		var names []string
		for _, one := range r.about[:len(r.about)-r.left()] {
			names = append(names, strings.TrimSpace(fmt.Sprintf("%s %s %s", Name(one.subject), one.text, Name(one.where))))
		}
		fmt.Fprintf(b, "- %s; %s\n", words.First(names, len(r.about)), Code(r.hint))
	}
}
