package diff

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// Creation is a token to be created, and where its secret goes.
type Creation struct {
	Key      string
	Spec     edge.TokenSpec // as declared, permission groups by their ids
	Hash     string         // of Spec
	Sink     *desired.Sink
	Lifetime time.Duration // of a token that rotates; zero: its window is the declared one
	Suffix   NameSuffix
	Prune    bool // the token may be deleted once nothing declares it
}

// creationOf is the creation of a declared token; spec is its specification, with
// its permission groups resolved.
func creationOf(token desired.Token, spec edge.TokenSpec, suffix NameSuffix) *Creation {
	c := &Creation{Key: token.Key, Spec: spec, Hash: access.Hash(spec), Sink: token.Sink, Suffix: suffix, Prune: token.Prune}
	if token.Rotate != nil {
		c.Lifetime = token.Rotate.Lifetime()
	}
	return c
}

// NameSuffix goes behind the name of a token. In it {intent} stands for the
// attempt that makes the token, so that one which was lost is found by eye.
type NameSuffix string

// maxTokenName is how many characters a name has at most, as known beyond the
// reference.
const maxTokenName = 120

func (s NameSuffix) behind(name, intent string) string {
	return name + strings.ReplaceAll(string(s), "{intent}", intent)
}

func (c Creation) nameLength() int {
	const anIntent = "0123456789abcdef"
	return utf8.RuneCountInString(c.Suffix.behind(c.Spec.Name, anIntent))
}

// Body is what an attempt sends: the declared specification, the suffix behind
// its name, and for a token that rotates the end of its life. Its beginning is
// left out: the platform's clock may be behind.
func (c Creation) Body(intent string, now time.Time) edge.TokenSpec {
	body := c.Spec
	body.Name = c.Suffix.behind(body.Name, intent)
	if c.Lifetime > 0 {
		body.ExpiresOn = now.Add(c.Lifetime).UTC().Truncate(time.Second).Format(time.RFC3339)
	}
	return body
}

// made reports whether a token on record is what this creation would make. The
// window of one that rotates was computed; that of any other must be the
// declared one, also where it rotated before.
func (c Creation) made(r TokenRecord) bool {
	rotates := c.Lifetime > 0
	return r.Hash == c.Hash && (rotates || r.Spec.NotBefore == c.Spec.NotBefore && r.Spec.ExpiresOn == c.Spec.ExpiresOn)
}

// Named reports whether the name that was sent carries the attempt.
func (r TokenRecord) Named() bool { return r.Intent != "" && strings.Contains(r.Spec.Name, r.Intent) }

// Due returns the keys of declared tokens that need a run although nothing
// changed: a successor has to be made, a secret still waits for its sink, or a
// lost creation can be looked for, which is so where the platform lists tokens.
func Due(tokens []desired.Token, live TokensLive, listed bool, now time.Time) map[string]bool {
	newest := map[string]TokenRecord{}
	for _, r := range live.Records {
		newest[r.Key] = r
	}
	keys := map[string]bool{}
	for _, token := range tokens {
		r, known := newest[token.Key]
		switch {
		case !known:
		case r.State == TokenConfirmed:
			keys[token.Key] = !r.Delivered || live.due(token.Rotate, r, now)
		case r.State == TokenQuarantined:
			keys[token.Key] = listed && r.Named()
		}
	}
	return keys
}

// due reports whether a token's successor should exist: once it is as old as
// rotate.every, and in any case rotate.overlap before its end.
func (l TokensLive) due(rotate *desired.Rotate, r TokenRecord, now time.Time) bool {
	if rotate == nil || now.IsZero() {
		return false
	}
	end, ends := l.end(r)
	return !now.Before(r.At.Add(rotate.Every)) || ends && !now.Before(end.Add(-rotate.Overlap))
}

// expiry is the end that a token was made with.
func expiry(r TokenRecord) (time.Time, bool) {
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
