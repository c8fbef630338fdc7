package access

import (
	"fmt"

	"github.com/seawall-dev/seawall/edge"
)

// Type is one of the three resource types (reference, "Resource identifiers").
// Its text is the one a permission group's scopes use, with the segment "vendor".
type Type string

// The resource types.
const (
	TypeAccount Type = "com.vendor.api.account"
	TypeZone    Type = "com.vendor.api.account.zone"
	TypeUser    Type = "com.vendor.api.user"
)

// Target is the one thing a question is about: an account, a zone or the user.
// Make it with [OfAccount], [OfZone] or [OfUser]; nothing covers the zero Target.
type Target struct {
	Type    Type
	Account edge.AccountID // the account, or the one the zone is in
	Zone    edge.ZoneID
	User    string
}

// OfAccount is the account itself, without its zones.
func OfAccount(id edge.AccountID) Target { return Target{Type: TypeAccount, Account: id} }

// OfZone is a zone and the account it is in. Where the account is not known
// (empty), "all zones in one account" never allows and always denies.
func OfZone(account edge.AccountID, zone edge.ZoneID) Target {
	return Target{Type: TypeZone, Account: account, Zone: zone}
}

// OfUser is the calling user. An empty tag stands for whatever tag a policy
// names: it may name no other user (reference, "Authentication").
func OfUser(tag string) Target { return Target{Type: TypeUser, User: tag} }

func (t Target) String() string {
	switch t.Type {
	case TypeAccount:
		return fmt.Sprintf("account %s", t.Account)
	case TypeZone:
		return fmt.Sprintf("zone %s", t.Zone)
	case TypeUser:
		return "the calling user"
	}
	return "nothing"
}
