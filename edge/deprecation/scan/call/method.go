package call

import (
	"bytes"
	"strings"
)

// IsMethod reports whether a word can be an HTTP method: up to 20 capitals, with
// a hyphen in two of WebDAV's.
func IsMethod(word []byte) bool {
	if len(word) == 0 || len(word) > 20 {
		return false
	}
	for _, c := range word {
		if (c < 'A' || c > 'Z') && c != '-' {
			return false
		}
	}
	return word[0] != '-'
}

var common = Words("GET HEAD POST PUT PATCH DELETE OPTIONS")

// IsCommonMethod reports whether a word is one of the methods that APIs use, in
// capitals.
func IsCommonMethod(word string) bool { return common[word] }

// IsTarget reports whether a request target names a resource by path.
func IsTarget(target []byte) bool {
	return len(target) > 0 && (target[0] == '/' || bytes.HasPrefix(target, []byte("http://")) || bytes.HasPrefix(target, []byte("https://")))
}

// Words is the set of the words of a text.
func Words(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}
