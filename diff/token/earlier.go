package token

import (
	"fmt"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/access"
)

// besides adds to a creation what stays of the declaration's earlier tokens: those
// that may do more than the new one and stay valid, so that the creation alone takes
// no right away, and the secrets that the new one does not replace.
func (p *planner) besides(c diff.Change, want diff.Creation, records []diff.TokenRecord) diff.Change {
	for _, r := range records {
		want.Leaves = append(want.Leaves, p.leaves(r)...)
		if !p.wider(r, want) || want.Prune && p.in.Live.Tokens.Of(r.Owner).Listed != nil { // Seawall deletes it once the new one is delivered
			continue
		}
		c.Rights = append(c.Rights, diff.Right{
			Text: fmt.Sprintf("token %s may do more than the new one, and %s", r.ID, p.staysValid(r)), Direction: diff.Weakens,
		})
		c.Direction = diff.Combine(c.Direction, diff.Weakens)
	}
	c.Operation = want
	return c
}

// wider reports whether an earlier token is valid and may do something that its
// declaration, by now, does not allow.
func (p *planner) wider(r diff.TokenRecord, want diff.Creation) bool {
	if r.State != diff.TokenConfirmed || !p.in.Live.Tokens.Has(r) || p.in.Live.Tokens.Over(r, p.in.Now) {
		return false
	}
	was, shall := p.was(r), want.Spec
	if want.Lifetime > 0 {
		was.ExpiresOn = "" // computed for each token of a rotation
	}
	if p.past(was.NotBefore) && p.past(shall.NotBefore) || want.Lifetime > 0 {
		was.NotBefore, shall.NotBefore = "", ""
	}
	return slices.ContainsFunc(access.Diff(was, shall), func(c access.Change) bool {
		return c.Direction == access.Strengthens
	})
}

// past reports whether a begin is over by now, or was never set.
func (p *planner) past(begin string) bool {
	at, err := time.Parse(time.RFC3339Nano, begin)
	return begin == "" || err == nil && !p.in.Now.IsZero() && !p.in.Now.Before(at)
}

// staysValid says until when an earlier token is valid.
func (p *planner) staysValid(r diff.TokenRecord) string {
	if end, ends := p.in.Live.Tokens.End(r); ends {
		return "stays valid until " + end.UTC().Format(time.RFC3339)
	}
	return "stays valid until it is revoked"
}

// leaves is the place in which the secret of a token stays; none where it was never
// delivered, or where another secret has replaced it or is to.
func (p *planner) leaves(r diff.TokenRecord) []diff.LeftSecret {
	place := p.in.Live.Tokens.Place(r)
	wanted := func(t desired.Token) bool { return sameSink(t.Sink, place) }
	if place == nil || !r.Delivered || slices.ContainsFunc(p.in.State.Tokens, wanted) {
		return nil
	}
	return []diff.LeftSecret{{Token: r.ID, Sink: *place}}
}
