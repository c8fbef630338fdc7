package cli

import "strings"

// Quoted is a word as a shell takes it: in single quotes where it has characters that mean
// something else to it. It is for commands that people paste.
func Quoted(word string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c > 0x7f || strings.ContainsRune("/._-+:=@%,", c)
	}
	if word != "" && strings.IndexFunc(word, func(c rune) bool { return !plain(c) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
