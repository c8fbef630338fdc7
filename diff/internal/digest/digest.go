// Package digest computes digests of parts of a plan. Any value that encodes to
// JSON goes in, hex digits come out. It imports the standard library alone.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Of is the SHA-256 digest of the JSON of v, in hex.
func Of(v any) string {
	sum := sha256.Sum256(JSON(v))
	return hex.EncodeToString(sum[:])
}

// JSON is v as JSON.
func JSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		// Every value of a plan came from JSON or is plain; this cannot happen to user input.
		panic("diff: encoding a plan: " + err.Error())
	}
	return data
}
