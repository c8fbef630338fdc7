package token

import (
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
	return r.Hash == c.Hash && (rotates || r.Spec.NotBefore == c.Spec.NotBefore && r.Spec.ExpiresOn == c.Spec.ExpiresOn)
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

// due reports whether a token's successor should exist: once it is as old as
// rotate.every, and in any case rotate.overlap before its end.
func due(live diff.TokensLive, rotate *desired.Rotate, r diff.TokenRecord, now time.Time) bool {
	if rotate == nil || now.IsZero() {
		return false
	}
	end, ends := live.End(r)
	return !now.Before(r.At.Add(rotate.Every)) || ends && !now.Before(end.Add(-rotate.Overlap))
}

// dueOnRecord reports whether a successor is due by the rotation that made a token.
func dueOnRecord(live diff.TokensLive, r diff.TokenRecord, lifetime, every time.Duration, now time.Time) bool {
	return lifetime > 0 && due(live, &desired.Rotate{Every: every, Overlap: lifetime - every}, r, now)
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
