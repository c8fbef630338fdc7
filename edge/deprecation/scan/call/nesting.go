package call

import "strings"

// Nesting bounds how deep the brackets and signs of a text may lie within each other: parsers go
// as deep as they do.
const Nesting = 400

// TooDeep counts brackets and rows of signs without minding quotes: it may find too much.
func TooDeep(text, opens, closes, signs string) bool {
	depth, row := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ' || c == '\t':
			continue
		case strings.IndexByte(signs, c) >= 0:
			row++
		case strings.IndexByte(opens, c) >= 0:
			depth, row = depth+1, 0
		case strings.IndexByte(closes, c) >= 0:
			depth, row = max(0, depth-1), 0
		default:
			row = 0
		}
		if max(depth, row) > Nesting {
			return true
		}
	}
	return false
}
