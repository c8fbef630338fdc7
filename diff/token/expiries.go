package token

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// Expiries are the ends of the tokens on record that are created for sure, have
// an end and are of a declaration among tokens; soonest first. The superseded
// are among them, and those that have ended: there is no clock here. Where
// nothing may be concluded from the records there are none.
func Expiries(live diff.TokensLive, tokens []desired.Token) []diff.Expiry {
	if live.Unknown != "" {
		return nil
	}
	byKey := map[string][]diff.TokenRecord{}
	for _, r := range live.Records {
		if r.State == diff.TokenConfirmed && live.Of(r.Owner).Unknown == "" && live.Has(r) {
			byKey[r.Key] = append(byKey[r.Key], r)
		}
	}
	takers := takersOf(live)
	var expiries []diff.Expiry
	for _, token := range tokens {
		records := byKey[token.Key]
		current := inUse(live, token, records, takers)
		for _, r := range records {
			if at, ends := live.End(r); ends {
				expiries = append(expiries, diff.Expiry{
					Token: r.Key, ID: r.ID, At: at.UTC(), Current: r.Intent == current, Rotates: token.Rotate != nil,
				})
			}
		}
	}
	expiries = append(expiries, credentials(live)...)
	slices.SortFunc(expiries, func(a, b diff.Expiry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Token, b.Token), cmp.Compare(a.ID, b.ID))
	})
	return expiries
}

// credentials are the ends of Seawall's own tokens, each once: with them, the ends of all
// others are near. In the place of a key is where the credential is configured.
func credentials(live diff.TokensLive) (ends []diff.Expiry) {
	if len(live.Owners) == 0 { // as in the plan of a zone alone
		return nil
	}
	told := map[string]bool{}
	for _, owner := range slices.Sorted(maps.Keys(live.Owners)) {
		listed := live.Of(owner).Listed
		if listed == nil || told[listed.CredentialPath] {
			continue
		}
		c := listed.Credential
		if at, ok := expiry(diff.TokenRecord{Spec: c.TokenSpec}); ok {
			told[listed.CredentialPath] = true
			ends = append(ends, diff.Expiry{Token: listed.CredentialPath, ID: c.ID, At: at.UTC(), Current: true})
		}
	}
	return ends
}

// inUse returns the attempt whose token is in use: the one the declaration
// counts on, or else the newest, whose secret is where people take it from.
func inUse(live diff.TokensLive, token desired.Token, confirmed []diff.TokenRecord, takers map[desired.Sink]string) (intent string) {
	if r := current(live, confirmed, creationOf(token, token.Spec(), ""), takers); r != nil {
		return r.Intent
	}
	if len(confirmed) == 0 {
		return ""
	}
	return confirmed[len(confirmed)-1].Intent
}
