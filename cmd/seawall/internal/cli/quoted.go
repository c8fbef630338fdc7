package cli

import "mvdan.cc/sh/v3/syntax"

// Quoted is a word as a shell takes it: in quotes where it has characters that mean
// something else to it. It is for commands that people paste. What a shell cannot be given,
// such as a byte of zero, stays as it is.
func Quoted(word string) string {
	quoted, err := syntax.Quote(word, syntax.LangPOSIX)
	if err != nil {
		return word
	}
	return quoted
}
