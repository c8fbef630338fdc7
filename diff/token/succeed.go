package token

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// succeed plans what follows a token that is due for a successor. It is a rotation where
// it only renews the token. Where the declaration asks for anything else, that is a change
// like any other: an update where the platform has one and the rest then rotates, or a
// replacement.
func (p *planner) succeed(token desired.Token, want diff.Creation, r diff.TokenRecord) {
	earlier := []diff.TokenRecord{r}
	want.Follows = p.followed(r, want)
	switch {
	case want.Timely():
		p.add(p.newToken(token, want, diff.ActionRotate, r, earlier))
	case p.amends(token, want, r):
		p.keepToken(token, want, r)
	default:
		p.add(p.newToken(token, want, diff.ActionReplace, r, earlier))
		p.meanwhile(token, want, r)
	}
}

// amends reports whether a token can be made as declared by an update. One that would have
// ended all the same cannot: only another token works again.
func (p *planner) amends(token desired.Token, want diff.Creation, r diff.TokenRecord) bool {
	listed := p.in.Live.Tokens.Of(r.Owner).Listed
	if listed == nil {
		return false
	}
	live := listed.Tokens[r.ID]
	shall := wantedSpec(want, r, live)
	if end, err := time.Parse(time.RFC3339Nano, shall.ExpiresOn); err == nil && !p.in.Now.Before(end) {
		return false
	}
	return len(p.amend(token, want, r, live, shall).Fields) > 0
}

// meanwhile has a rotation ready for a token of which something else is planned: guards
// may hold that back, and until a person agrees the token on record must not run out. The
// successor may do no more than the token on record may by now.
func (p *planner) meanwhile(token desired.Token, want diff.Creation, r diff.TokenRecord) {
	of := p.in.Live.Tokens.Of(r.Owner)
	_, asked := p.in.Live.Tokens.Owners[r.Owner]
	if r.State != diff.TokenConfirmed || !r.Delivered || r.Sink == nil || p.takers[*r.Sink] != r.Intent || !p.in.Live.Tokens.Has(r) ||
		of.LeftOut || of.Unknown != "" || r.Owner != want.Owner && !asked || !p.dueOnRecord(r, want) {
		return
	}
	if again, ok := p.again(want, r); ok {
		c := p.newToken(token, again, diff.ActionRotate, r, []diff.TokenRecord{r})
		c.Account = p.account(r.Owner)
		again.As, again.Follows = diff.ActionRotate, p.followed(r, again)
		c.Operation = again // its place is filled, so no secret stays behind
		c.Field("expires_on").Note = "like the token on record, while what is declared instead waits"
		p.out.Meanwhile = append(p.out.Meanwhile, c)
	}
}

// again is the creation of a token like the one on record; false where none is that gives
// no right more. What the record says comes first, what the platform says of the token
// where somebody has restricted it there.
func (p *planner) again(want diff.Creation, r diff.TokenRecord) (diff.Creation, bool) {
	c := diff.Creation{
		Owner: r.Owner, Key: r.Key, Hash: r.Hash, Sink: r.Sink, Lifetime: r.Lifetime, Every: r.Every,
		Suffix: want.Suffix, Prune: r.Prune, Meanwhile: true,
	}
	c.Follows = p.followed(r, c)
	name := declaredName(r, want)
	for i, spec := range []edge.TokenSpec{r.Spec, c.Follows.Spec} {
		spec.Name, spec.ExpiresOn = name, ""
		if i == 0 && access.Hash(spec) != r.Hash {
			return c, false // the record is of a declaration with a window of its own
		}
		if c.Spec = spec; c.Timely() {
			return c, true
		}
	}
	return c, false
}

// declaredName is the name of a token on record without the attempt behind it.
func declaredName(r diff.TokenRecord, want diff.Creation) string {
	if name, ok := strings.CutSuffix(r.Spec.Name, want.Suffix.Behind("", r.Intent)); ok {
		return name
	}
	return want.Spec.Name
}

// dueOnRecord reports whether a token's successor is due by the rotation that made it.
func (p *planner) dueOnRecord(r diff.TokenRecord, want diff.Creation) bool {
	lifetime, every := p.rotationOf(r, want)
	return lifetime > 0 && p.asked(r) || dueOnRecord(p.in.Live.Tokens, r, lifetime, every, p.in.Now)
}

// asked reports whether a person asks for the successor of a token: by the newest one of its
// declaration, so that nothing is asked for any more once there is a successor.
func (p *planner) asked(r diff.TokenRecord) bool {
	newest := edge.TokenID("")
	for _, other := range p.in.Live.Tokens.Records {
		if other.Key == r.Key && other.State == diff.TokenConfirmed {
			newest = other.ID
		}
	}
	return newest != "" && newest == p.in.Rotate
}

// followed is a token on record, for a creation that takes its place.
func (p *planner) followed(r diff.TokenRecord, want diff.Creation) *diff.Followed {
	f := &diff.Followed{Owner: r.Owner, Sink: r.Sink, Hash: r.Hash, Spec: p.was(r)}
	f.Lifetime, f.Every = p.rotationOf(r, want)
	if of := p.in.Live.Tokens.Of(r.Owner); of.Listed != nil {
		end, ends := p.in.Live.Tokens.End(r)
		meant, said := expiry(r)
		works := slices.Contains([]string{"", "active", "expired"}, of.Listed.Tokens[r.ID].Status)
		f.Stopped = !works || !p.in.Live.Tokens.Has(r) || ends && said && end.Before(meant)
	}
	return f
}

// unrecorded is by how much the length of a rotation that is not on record may seem
// shorter than it was: its end is counted from a moment before the attempt is recorded.
const unrecorded = time.Hour

// rotationOf is the rotation that made a token; zero where none did. An earlier version of
// Seawall did not record it: where tokens are never updated, one that has the hash of a
// declaration without an end and has an end itself was made by a rotation.
func (p *planner) rotationOf(r diff.TokenRecord, want diff.Creation) (lifetime, every time.Duration) {
	if r.Lifetime > 0 || p.in.Live.Tokens.Of(r.Owner).Listed != nil || r.Hash != want.Hash || want.Lifetime == 0 {
		return r.Lifetime, r.Every
	}
	if end, ends := expiry(r); ends && want.Lifetime <= end.Sub(r.At)+unrecorded {
		return want.Lifetime, want.Every
	}
	return 0, 0
}

// withLifetime says where a token of a rotation is valid for longer than the one before it
// was to be: longer than its rotation made it, or than its declared end.
func (p *planner) withLifetime(c diff.Change, creation diff.Creation) diff.Change {
	f := creation.Follows
	if creation.Lifetime == 0 || f == nil || creation.Lifetime <= f.Lifetime || f.Lifetime == 0 && f.Spec.ExpiresOn == "" {
		return c
	}
	was := "ends at " + f.Spec.ExpiresOn
	if f.Lifetime > 0 {
		was = "ends " + lifetimeText(f.Lifetime)
	}
	c.Rights = append(c.Rights, diff.Right{
		Text: fmt.Sprintf("ends %s, and the next one follows; the token before it %s", lifetimeText(creation.Lifetime), was), Direction: diff.Weakens,
	})
	if end := c.Field("expires_on"); end != nil {
		end.Direction = diff.Weakens
	}
	c.Direction = diff.Combine(c.Direction, diff.Weakens)
	return c
}
