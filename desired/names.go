package desired

import (
	"strings"
	"unicode"

	"github.com/seawall-dev/seawall/edge"
)

// A zone or an account without a declared id is found on the platform by its name.
// Until it is found, a stand-in is in the place of its id, so that it is one zone
// among the others everywhere, and its problem is its own. No id of the platform
// has the form of a stand-in, so no request can be about one.
const standIn = "name:"

// SoughtZone is the stand-in for the id of a zone, by the keys of account and zone.
func SoughtZone(account, zone string) edge.ZoneID {
	return edge.ZoneID(standIn + account + "/" + zone)
}

// SoughtAccount is the stand-in for the id of an account, by its key.
func SoughtAccount(key string) edge.AccountID { return edge.AccountID(standIn + key) }

// ByItsName stands for what has the name of a zone on the platform, or of what an account has itself,
// under any key and in any account: for what is on record while the id is not known. It is false where
// the name is not declared.
func ByItsName(a Account, z Zone) (edge.Scope, bool) {
	name := z.Name
	if z.Scope.Level == edge.LevelAccount {
		name = a.Name
	}
	return edge.Scope{Level: z.Scope.Level, ID: standIn + "/" + FoldName(name)}, name != ""
}

// Sought reports whether an id is not known: it is empty or a stand-in.
func Sought[ID ~string](id ID) bool {
	return id == "" || strings.HasPrefix(string(id), standIn)
}

// Known is an id as it is shown: empty where it is not known.
func Known[ID ~string](id ID) ID {
	if Sought(id) {
		return ""
	}
	return id
}

// KnownScope is a scope as it is shown: of the same level, and without an id where that is not
// known.
func KnownScope(s edge.Scope) edge.Scope {
	s.ID = Known(s.ID)
	return s
}

// FoldName is a name in the form in which names are compared: in lower case, without a
// dot at the end.
func FoldName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// ZoneName reports whether a text can be the name of a zone: a domain name with two
// labels or more.
func ZoneName(text string) bool {
	text = strings.TrimSuffix(text, ".")
	labels := strings.Split(text, ".")
	if len(labels) < 2 || len(text) > 253 {
		return false
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.IndexFunc(label, notInLabel) >= 0 ||
			strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return false
		}
	}
	return true
}

// notInLabel also lets letters beyond ASCII through: the platform shows such names as
// people write them.
func notInLabel(r rune) bool {
	return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}
