package difftest

import (
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// A permission group, and a zone that tokens are for.
const (
	Group       = "4755a26eedb94da69e1066d98aa820be"
	RotatedZone = "000000000000000000000000000000aa"
)

// CreatingGroup is a permission group that can create tokens.
const CreatingGroup = "API Tokens Write"

// January is when tests of rotations begin.
var January = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Token declares a token that may use [Group] in a zone.
func Token(key, zone string) desired.Token {
	return desired.Token{
		Key: key, Name: key, Origin: At(30), Sink: &desired.Sink{Name: "ci", Key: key},
		Policies: []desired.Policy{{
			Effect: "allow", Resources: []desired.Resource{{Key: edge.ResourceZone + zone}},
			PermissionGroups: []desired.PermissionGroup{{ID: Group}},
		}},
	}
}

// Elsewhere gives a token another place for its secret.
func Elsewhere(t desired.Token) desired.Token {
	t.Sink = &desired.Sink{Name: "ci", Key: "elsewhere"}
	return t
}

// Nowhere gives it none.
func Nowhere(t desired.Token) desired.Token {
	t.Sink = nil
	return t
}

// RecordOf is the n-th attempt to create a token.
func RecordOf(n int, t desired.Token, state diff.TokenState) diff.TokenRecord {
	spec := t.Spec()
	return diff.TokenRecord{
		Intent: fmt.Sprintf("%016x", n), Key: t.Key, State: state, ID: edge.TokenID(fmt.Sprintf("t%d", n)),
		Spec: spec, Hash: access.Hash(spec), Sink: t.Sink, Delivered: true,
	}
}

// Rotating has a token rotate.
func Rotating(t desired.Token, every, overlap time.Duration) desired.Token {
	t.Rotate = &desired.Rotate{Every: every, Overlap: overlap}
	return t
}

// Generation is a token of a rotation, on record since a time.
func Generation(n int, t desired.Token, at time.Time) diff.TokenRecord {
	r := RecordOf(n, t, diff.TokenConfirmed)
	r.At, r.Lifetime, r.Every = at, t.Rotate.Lifetime(), t.Rotate.Every
	r.Spec = diff.Creation{Spec: t.Spec(), Lifetime: t.Rotate.Lifetime()}.Body(r.Intent, at)
	return r
}

// ListedAs is what a platform that lists its tokens says.
func ListedAs(records []diff.TokenRecord, tokens ...edge.Token) diff.TokensLive {
	platform := &diff.TokensListed{Tokens: map[edge.TokenID]edge.Token{}, CredentialPath: "credentials.tokens"}
	for _, token := range tokens {
		platform.Tokens[token.ID] = token
	}
	return diff.TokensLive{Records: records, Owners: OfUser(platform)}
}

// OfUser is what a platform says of the tokens of the user alone.
func OfUser(listed *diff.TokensListed) map[edge.AccountID]diff.OwnerLive {
	return map[edge.AccountID]diff.OwnerLive{"": {Listed: listed}}
}

// LiveToken is a token on record as the platform lists it.
func LiveToken(r diff.TokenRecord) edge.Token {
	return edge.Token{ID: r.ID, TokenSpec: r.Spec, Status: "active", IssuedOn: "2026-01-01T00:00:00.123Z"}
}

// Allow is a policy that allows groups on a resource.
func Allow(line int, resource string, groups ...string) desired.Policy {
	p := desired.Policy{Effect: "allow", Origin: At(line), Resources: []desired.Resource{{Key: resource}}}
	for _, name := range groups {
		p.PermissionGroups = append(p.PermissionGroups, desired.PermissionGroup{ID: "id of " + name, Name: name})
	}
	return p
}

// Ending is a token of that form with an end.
func Ending(t desired.Token, day string) desired.Token {
	t.ExpiresOn = day + "T00:00:00Z"
	return t
}
