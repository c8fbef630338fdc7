package token

import (
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// creationOf is the creation of a declared token; spec is its specification, with
// its permission groups resolved.
func creationOf(token desired.Token, spec edge.TokenSpec, suffix diff.NameSuffix) diff.Creation {
	c := diff.Creation{Owner: token.Owner, Key: token.Key, Spec: spec, Hash: access.Hash(spec), Sink: token.Sink, Suffix: suffix, Prune: token.Prune}
	if token.Rotate != nil {
		c.Lifetime, c.Every = token.Rotate.Lifetime(), token.Rotate.Every
	}
	return c
}

// made reports whether a token on record is what a creation would make. The
// window of one that rotates was computed; that of any other must be the
// declared one, also where it rotated before.
func made(c diff.Creation, r diff.TokenRecord) bool {
	rotates := c.Lifetime > 0
	return diff.Declared(r.Hash) == c.Hash && (rotates || r.Spec.NotBefore == c.Spec.NotBefore && r.Spec.ExpiresOn == c.Spec.ExpiresOn)
}

// Due implements [diff.Secrets].
func (Kind) Due(tokens []desired.Token, live diff.TokensLive, listed func(owner edge.AccountID) bool, now time.Time) map[string]bool {
	newest := map[string]diff.TokenRecord{}
	for _, r := range live.Records {
		newest[r.Key] = r
	}
	keys := map[string]bool{}
	for _, token := range tokens {
		r, known := newest[token.Key]
		switch {
		case !known:
		case r.State == diff.TokenConfirmed:
			keys[token.Key] = !r.Delivered || due(live, token.Rotate, r, now) || dueOnRecord(live, r, r.Lifetime, r.Every, now)
		case r.State == diff.TokenQuarantined:
			keys[token.Key] = r.Named() && listed(r.Owner)
		}
	}
	return keys
}

// due reports whether a token's successor should exist.
func due(live diff.TokensLive, rotate *desired.Rotate, r diff.TokenRecord, now time.Time) bool {
	return rotate != nil && !now.IsZero() && !now.Before(dueAt(live, *rotate, r))
}

// dueAt is when a token's successor should exist: once it is as old as rotate.every, and in
// any case rotate.overlap before its end.
func dueAt(live diff.TokensLive, rotate desired.Rotate, r diff.TokenRecord) time.Time {
	at := r.At.Add(rotate.Every)
	if end, ends := live.End(r); ends && end.Add(-rotate.Overlap).Before(at) {
		return end.Add(-rotate.Overlap)
	}
	return at
}

// dueOnRecord reports whether a successor is due by the rotation that made a token.
func dueOnRecord(live diff.TokensLive, r diff.TokenRecord, lifetime, every time.Duration, now time.Time) bool {
	return lifetime > 0 && due(live, &desired.Rotate{Every: every, Overlap: lifetime - every}, r, now)
}

// InUse implements [diff.Secrets].
func (Kind) InUse(tokens []desired.Token, live diff.TokensLive) map[string]diff.TokenInUse {
	byKey, takers, used := map[string][]diff.TokenRecord{}, takersOf(live), map[string]diff.TokenInUse{}
	for _, r := range live.Records {
		byKey[r.Key] = append(byKey[r.Key], r)
	}
	for _, token := range tokens {
		records := byKey[token.Key]
		open := slices.IndexFunc(records, func(r diff.TokenRecord) bool { return r.State != diff.TokenConfirmed })
		current := inUse(live, token, records, takers)
		for i, r := range records {
			if open >= 0 && i != open || open < 0 && r.Intent != current {
				continue
			}
			use := diff.TokenInUse{TokenRecord: r}
			if end, ends := live.End(r); ends {
				use.Ends = end.UTC()
			}
			if open < 0 {
				use.Due = successorAt(live, token.Rotate, r)
			}
			used[token.Key] = use
		}
	}
	return used
}

// successorAt is when a token's successor is due: by the declared rotation, and by the one
// that made it; zero where there is neither.
func successorAt(live diff.TokensLive, rotate *desired.Rotate, r diff.TokenRecord) (at time.Time) {
	if rotate != nil {
		at = dueAt(live, *rotate, r)
	}
	if r.Lifetime > 0 {
		made := dueAt(live, desired.Rotate{Every: r.Every, Overlap: r.Lifetime - r.Every}, r)
		if at.IsZero() || made.Before(at) {
			at = made
		}
	}
	return at.UTC()
}

// expiry is the end that a token was made with.
func expiry(r diff.TokenRecord) (time.Time, bool) {
	end, err := time.Parse(time.RFC3339, r.Spec.ExpiresOn)
	return end, err == nil
}

// lifetimeText is a length of time in its large units: "768h after its creation".
func lifetimeText(d time.Duration) string {
	text := d.String()
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, none) {
			text = text[:len(text)-2]
		}
	}
	return text + " after its creation"
}
