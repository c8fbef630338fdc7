// Package words writes numbers, times and places as all texts of plans write
// them, and digests of parts of a plan. Plain values go in, text comes out.
package words

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
)

// Count is a number of things: "1 zone", "3 zones".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// First are the names of the first of many things: "a, b and 3 more".
func First(names []string, many int) string {
	text := strings.Join(names, ", ")
	if more := many - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Instant is a time in UTC.
func Instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Sink is the place of a secret.
func Sink(sink *desired.Sink) string {
	if sink == nil {
		return "a sink"
	}
	return fmt.Sprintf("sink %s, key %s", sink.Name, sink.Key)
}

// Digest is the SHA-256 digest of the JSON of v, in hex.
func Digest(v any) string {
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
