package schema

// Verify says by whom commits must be signed; nil in [Source] for by nobody. At
// least one of the files is named.
type Verify struct {
	OpenPGP string `cue:"openpgp"` // absolute; a file of armored public keys
	SSH     string `cue:"ssh"`     // absolute; a file of allowed signers
	Require string `cue:"require"` // head, tag or both
}
