package deprecation

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

var (
	// links are those of a field, each with its address and its parameters (RFC 8288).
	links = lazyregexp.New(`<([^>]*)>((?:[^",<]|"[^"]*")*)`)
	// relations is the first rel of a link's parameters; only that counts.
	relations = lazyregexp.New(`(?i);\s*rel\s*=\s*(?:"([^"]*)"|([^\s;]*))`)
)

// documentation is the address of the first link with rel "deprecation", or
// else "sunset"; empty where there is none. Relations are compared without regard to case.
func documentation(fields []string) string {
	found := map[string]string{}
	for _, field := range fields {
		for _, link := range links().FindAllStringSubmatch(field, -1) {
			rel := relations().FindStringSubmatch(link[2])
			for _, word := range []string{"deprecation", "sunset"} {
				if rel != nil && found[word] == "" && slices.Contains(strings.Fields(strings.ToLower(rel[1]+rel[2])), word) {
					found[word] = printable(link[1])
				}
			}
		}
	}
	return cmp.Or(found["deprecation"], found["sunset"])
}
