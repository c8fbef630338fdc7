package explain

import "strings"

// syntaxHint says what to try where a file is no CUE: the slips of people who write YAML,
// HCL or JSON otherwise. It is empty where the message says all.
func syntaxHint(message string) string {
	for _, slip := range []struct{ message, hint string }{
		{"missing ',' in list", "write a comma between the entries of a list"},
		{"missing ',' in struct", `write a comma or a new line between fields, and quotes around a name with dots, such as "shop.example"`},
		{"expected '}', found 'EOF'", "a { has no matching }"},
		{"expected ']', found 'EOF'", "a [ has no matching ]"},
		{"expected label or ':', found 'IDENT'", "a field is written name: value; a comment begins with //"},
		{"illegal character U+2018", quotes},
		{"illegal character U+2019", quotes},
		{"illegal character U+201C", quotes},
		{"illegal character U+201D", quotes},
		{"illegal character U+0023", "a comment begins with //"},
		{"string literal not terminated", `a text ends on its line, with "`},
		{"unreferenced alias or let clause", "a field is written name: value, with a colon"},
		{"expected ',', found '-'", `a name with a hyphen is written in quotes; the name of a package has letters, digits and _`},
	} {
		if strings.HasPrefix(message, slip.message) {
			return slip.hint
		}
	}
	return ""
}

const quotes = `write straight quotes: "…"`
