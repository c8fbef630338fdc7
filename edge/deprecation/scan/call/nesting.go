package call

// Nesting bounds how deep the brackets, signs and choices of a text may lie within each other:
// parsers go as deep as they do.
const Nesting = 400

// mostChoices bounds the question marks of a text. Few of them are choices within others.
const mostChoices = 20 * Nesting

// TooDeep counts what can nest without minding quotes: it may find too much.
func TooDeep(text string) bool {
	depth, pipes, signs, choices := 0, 0, 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(0, depth-1)
		case '|':
			pipes++
		case '\n':
			pipes = 0
		case '?':
			choices++
		case '-', '+', '~', '!':
			signs++
			continue
		case ' ':
			continue
		}
		if max(depth, pipes, signs) > Nesting || choices > mostChoices {
			return true
		}
		signs = 0
	}
	return signs > Nesting
}
