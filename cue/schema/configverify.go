package schema

import "cuelang.org/go/cue"

// Verify says by whom commits must be signed; nil in [Source] for by nobody. At
// least one of the files is named.
type Verify struct {
	OpenPGP string // absolute; a file of armored public keys
	SSH     string // absolute; a file of allowed signers
	Require string // head, tag or both
}

func verify(v cue.Value) *Verify {
	const path = "source.verify"
	if !at(v, path).Exists() {
		return nil
	}
	return &Verify{text(v, path+".openpgp"), text(v, path+".ssh"), text(v, path+".require")}
}
