// Package redacttest has what tests of secrets take: the ways in which a server may repeat
// one ([Encodings], [Echo]), and a search for what was not redacted ([Search]), which
// shares no code with package redact.
package redacttest

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
)

// Encoding is a way to write a secret.
type Encoding struct {
	Name   string
	Encode func(string) string
	// Left is how many bytes of the text may be left when a secret is taken out of it: the
	// ends of Base64 depend on what is beside it.
	Left int
}

// Encodings are the ways in which a server may repeat what it was sent.
var Encodings = []Encoding{
	{"as it is", func(s string) string { return s }, 0},
	{"upper case", strings.ToUpper, 0},
	{"lower case", strings.ToLower, 0},
	{"reversed", reversed, 0},
	{"hex", func(s string) string { return hex.EncodeToString([]byte(s)) }, 0},
	{"HEX", func(s string) string { return fmt.Sprintf("%X", s) }, 0},
	{"hex dump", func(s string) string { return fmt.Sprintf("% x", s) }, 0},
	{"hex with colons", func(s string) string { return strings.ReplaceAll(fmt.Sprintf("% x", s), " ", ":") }, 0},
	{"hex reversed", func(s string) string { return reversed(hex.EncodeToString([]byte(s))) }, 0},
	{"reversed hex", func(s string) string { return hex.EncodeToString([]byte(reversed(s))) }, 0},
	{"base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }, 4},
	{"base64 URL", func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) }, 4},
	{"base64 raw", func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) }, 4},
	{"base64 at 1", func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u" + s)) }, 8},
	{"base64 at 2", func(s string) string { return base64.URLEncoding.EncodeToString([]byte("me" + s)) }, 8},
	{"base64 user", func(s string) string { return base64.StdEncoding.EncodeToString([]byte("ada:" + s)) }, 12},
	{"base64 reversed", func(s string) string { return reversed(base64.StdEncoding.EncodeToString([]byte(s))) }, 4},
	{"base64 of upper", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(strings.ToUpper(s))) }, 4},
	{"base64 in lines", inLines, 4},
	{"base64 in a URL", func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) }, 8},
	{"query", url.QueryEscape, 0},
	{"path", url.PathEscape, 0},
	{"percent", percent, 0},
	{"percent twice", func(s string) string { return url.QueryEscape(percent(s)) }, 0},
	{"JSON", inJSON, 0},
	{"JSON in JSON", func(s string) string { return inJSON(inJSON(s)) }, 0},
	{"unicode escapes", unicodeEscapes, 0},
	{"quoted", func(s string) string { return strings.Trim(fmt.Sprintf("%q", s), `"`) }, 0},
	{"HTML", html.EscapeString, 0},
	{"HTML entities", entities, 0},
	{"over two lines", func(s string) string { return s[:len(s)/2] + "\r\n  " + s[len(s)/2:] }, 0},
	{"UTF-16", func(s string) string { return strings.Join(strings.Split(s, ""), "\x00") }, 0},
}

// Echo is what a hostile server says of a secret: all of it in each encoding, and then its
// halves.
func Echo(secret string) string {
	var b strings.Builder
	for _, e := range Encodings {
		fmt.Fprintf(&b, "%s: %s; ", e.Name, e.Encode(secret))
	}
	half := len(secret) / 2
	fmt.Fprintf(&b, "halves: %s and %s", secret[:half], secret[half:])
	return b.String()
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

func inLines(s string) string {
	text := base64.StdEncoding.EncodeToString([]byte(s))
	return text[:len(text)/2] + "\n" + text[len(text)/2:]
}

func percent(s string) (text string) {
	for _, b := range []byte(s) {
		text += fmt.Sprintf("%%%02x", b)
	}
	return text
}

func inJSON(s string) string {
	data, _ := json.Marshal(s) // cannot fail
	return strings.Trim(string(data), `"`)
}

func unicodeEscapes(s string) (text string) {
	for _, c := range s {
		text += fmt.Sprintf(`\u%04x`, c)
	}
	return text
}

func entities(s string) (text string) {
	for _, c := range s {
		text += fmt.Sprintf("&#%d;", c)
	}
	return text
}
