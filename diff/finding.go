package diff

import "github.com/seawall-dev/seawall/desired"

// Finding is something unwise about a declared token. It is advice: nothing of it
// stops a change or shows in an exit code.
type Finding struct {
	Token  string         `json:"token"`
	Kind   FindingKind    `json:"kind"`
	Text   string         `json:"text"` // follows the token's name: "never expires"; the same for a kind
	Hint   string         `json:"hint"` // the same for a kind
	Origin desired.Origin `json:"origin"`
}

// FindingKind is what a finding is about.
type FindingKind string

// The kinds of findings. Those about creating tokens are the advice of the
// reference, "Authentication" 3.
const (
	NoExpiry            FindingKind = "no_expiry"            // neither expires_on nor rotate
	CreatesBeside       FindingKind = "creates_beside"       // may create tokens, and is allowed other groups too
	CreatesUnrestricted FindingKind = "creates_unrestricted" // may create tokens, from any address and without expiry
	AllAccounts         FindingKind = "all_accounts"         // is allowed something on all accounts, or on the zones of all
	OnlyDenies          FindingKind = "only_denies"          // has no policy that allows something
	Disabled            FindingKind = "disabled"             // somebody switched it off; told where the platform lists its tokens
)

// FindingKinds returns all kinds, in the order in which they are shown.
func FindingKinds() []FindingKind {
	return []FindingKind{NoExpiry, CreatesBeside, CreatesUnrestricted, AllAccounts, OnlyDenies, Disabled}
}
