package deprecation

import "strings"

// documentation is the address of the first link with rel "deprecation", or
// else "sunset"; empty where there is none.
func documentation(links []string) string {
	found := map[string]string{}
	for _, field := range links {
		for _, link := range splitOutside(field, ',') {
			address, rels := parseLink(link)
			for _, rel := range rels {
				if found[rel] == "" {
					found[rel] = address
				}
			}
		}
	}
	if found["deprecation"] != "" {
		return found["deprecation"]
	}
	return found["sunset"]
}

// parseLink reads `<address>; rel="a b"` (RFC 8288). Relations are compared
// without regard to case; only the first rel of a link counts.
func parseLink(link string) (address string, rels []string) {
	open, closed := strings.IndexByte(link, '<'), strings.IndexByte(link, '>')
	if open < 0 || closed < open {
		return "", nil
	}
	for _, param := range splitOutside(link[closed+1:], ';') {
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "rel") {
			rels = strings.Fields(strings.ToLower(strings.Trim(strings.TrimSpace(value), `"`)))
			break
		}
	}
	return printable(link[open+1 : closed]), rels
}

// splitOutside splits at a separator that is in neither quotes nor <…>.
func splitOutside(text string, separator byte) []string {
	var out []string
	from, quoted, angled := 0, false, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' && !angled:
			quoted = !quoted
		case c == '<' && !quoted:
			angled = true
		case c == '>' && !quoted:
			angled = false
		case c == separator && !quoted && !angled:
			out, from = append(out, text[from:i]), i+1
		}
	}
	return append(out, text[from:])
}
