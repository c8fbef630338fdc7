// Package cuefile writes desired state as CUE files, and edits such files. It is the way
// back from desired/compile:
//
//	files := cuefile.Write(repository)          // values → files, with what they share in tiers
//	edited, err := cuefile.Edit(source, edits)  // one member of one zone, in place
//
// What it writes looks as a person would write it: one tier for each shape that many
// zones have, zones by tier, exceptions at the zone, and names for ids in comments. The
// same values give the same files.
//
// In: plain values of desired. Out: the text of files. It evaluates nothing; whoever
// writes the files to disk has them evaluated first. It imports the syntax of CUE and not
// its evaluator.
package cuefile

import (
	"cuelang.org/go/cue/format"

	"github.com/seawall-dev/seawall/desired"
)

// File is one file; its name is slash-separated, relative to the repository.
type File struct {
	Name    string
	Content []byte
}

// Repository is what files are written for.
type Repository struct {
	// Package is the package clause of the files.
	Package string
	// Schema is the import path of the schema, for editors; empty imports none.
	Schema string
	// Dir is the folder below which the files go, "" for the root. Base is the name of
	// the main file there, without its extension.
	Dir, Base string
	// TierPrefix begins the names of tiers; empty is "_tier".
	TierPrefix string
	// Simple writes each zone in full, without tiers.
	Simple bool
	// Header are lines of a comment at the beginning of the main file.
	Header []string
	// About are lines of a comment about what zones run, where that begins.
	About []string

	Accounts []Account
	Tokens   []Token
	User     string // the tag of the calling user; empty declares none
}

// Account is one account with its zones, sorted by key.
type Account struct {
	desired.Account // its Zones are in Zones
	// Comment is the name that the platform has for it.
	Comment string
	// Inherited says that id and rulesets are declared already, but for those in Rulesets.
	Inherited bool
	Zones     []Zone
	// Notes are lines of a comment about zones that are not declared.
	Notes []string
	Words Words
	// RulesetComment has, by key, the name of a ruleset that is declared by its id.
	RulesetComment map[string]string
}

// Words are for comments; what is nil says nothing. Rulesets are named by their keys.
type Words struct {
	// Rule says what a rule of a managed ruleset is.
	Rule func(ruleset string, ref desired.RuleRef) string
	// Skip has lines about a skip rule that a deployment of a zone accepts.
	Skip func(zone, ruleset, rule string) []string
}

// Zone is one zone, and what a comment says of it.
type Zone struct {
	desired.Zone
	Notes []string
}

// Token is one token, and what a comment says of it.
type Token struct {
	desired.Token
	Notes []string
}

// Summary says how the zones were written.
type Summary struct {
	Tiers      int
	Exceptions int // zones that have a tier and say something else in places
	Own        int // zones with deployments and without a tier
}

// Format is a text as cue fmt writes it.
func Format(text []byte) ([]byte, error) { return format.Source(text) }
