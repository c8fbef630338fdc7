package diff

import "github.com/seawall-dev/seawall/edge"

// Level says what kind of scope something belongs to.
type Level string

// The levels. Whoever decides by them must refuse any other.
const (
	LevelZone       Level = "zone"
	LevelAccount    Level = "account"
	LevelCredential Level = "credential" // the tokens of its user, or of an account
)

// Counts reports whether what is of a level counts for limits, can be held and is changed in
// waves: what is not of a credential.
func (l Level) Counts() bool { return l == LevelZone || l == LevelAccount }

// Level is that of what the change is about; empty for what nobody knows.
func (c Change) Level() Level { return levelOf(c.ZoneID, c.Token) }

// Level is that of what the problem is about; empty for a problem of the whole commit.
func (p Problem) Level() Level { return levelOf(p.ZoneID, p.Token) }

// Level is that of what is named.
func (d ID) Level() Level { return levelOf(d.Zone, string(d.Token)) }

func levelOf(zone edge.ZoneID, token string) Level {
	_, account := zone.Account()
	switch {
	case account:
		return LevelAccount
	case zone != "":
		return LevelZone
	case token != "":
		return LevelCredential
	}
	return ""
}
