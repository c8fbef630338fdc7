package signature

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// allowedSigner is a line of a file of allowed signers (ssh-keygen(1)).
type allowedSigner struct {
	line        int
	principals  string // as written
	namespaces  string // patterns; empty for all
	validAfter  time.Time
	validBefore time.Time
	key         ssh.PublicKey
}

// readAllowedSigners reads a file of allowed signers. A line that is not
// understood is an error, where ssh-keygen passes over it. Times without a Z
// are of the zone, as there.
func readAllowedSigners(text string, zone *time.Location) ([]allowedSigner, error) {
	var all []allowedSigner
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		signer, err := readAllowedSigner(line, zone)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		signer.line = n
		all = append(all, signer)
	}
	if len(all) == 0 {
		return nil, errors.New("it holds no key")
	}
	return all, nil
}

func readAllowedSigner(line string, zone *time.Location) (allowedSigner, error) {
	var s allowedSigner
	principals, rest, err := word(line)
	if err != nil {
		return s, err
	}
	if s.principals = principals; strings.Trim(principals, ",") == "" || strings.Contains(principals, `"`) {
		return s, errors.New("it is not PRINCIPALS [OPTIONS] KEY: it does not begin with principals")
	}
	key, _, options, after, err := ssh.ParseAuthorizedKey([]byte(rest))
	switch {
	case err != nil && strings.Count(rest, `"`)%2 > 0:
		return s, errors.New("a quotation mark is not closed")
	case err != nil || len(after) > 0:
		return s, errors.New("after principals and options there must be a public key: its type and its base64")
	}
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		if err := s.option(strings.ToLower(name), unquoted(value), zone); err != nil {
			return s, err
		}
	}
	if _, ok := key.(*ssh.Certificate); ok {
		return s, errors.New("it is a certificate; list the key itself")
	}
	s.key = key
	return s, nil
}

// word cuts the first field off a line; spaces within quotes do not end it. It drops the
// quotes around the whole field.
func word(line string) (first, rest string, err error) {
	quoted := false
	end := strings.IndexFunc(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && (r == ' ' || r == '\t')
	})
	switch {
	case quoted:
		return "", "", errors.New("a quotation mark is not closed")
	case end < 0:
		return "", "", errors.New("it is not PRINCIPALS [OPTIONS] KEY")
	}
	return unquoted(line[:end]), strings.TrimLeft(line[end:], " \t"), nil
}

// unquoted is a text without the quotes around it.
func unquoted(text string) string {
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' {
		return text[1 : n-1]
	}
	return text
}

func (s *allowedSigner) option(name, value string, zone *time.Location) (err error) {
	switch name {
	case "namespaces":
		if s.namespaces != "" || value == "" {
			return errors.New("namespaces is empty or said twice")
		}
		s.namespaces = value
	case "valid-after":
		s.validAfter, err = validity(s.validAfter, value, zone)
	case "valid-before":
		s.validBefore, err = validity(s.validBefore, value, zone)
	case "cert-authority":
		return errors.New("cert-authority is not supported; list the keys themselves")
	default:
		return fmt.Errorf("the option %q is not known: there are namespaces, valid-after and valid-before", name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// validity reads YYYYMMDD or YYYYMMDDHHMM[SS], with a Z behind it for UTC.
func validity(before time.Time, value string, zone *time.Location) (time.Time, error) {
	if !before.IsZero() {
		return before, errors.New("it is said twice")
	}
	digits, utc := strings.CutSuffix(value, "Z")
	if utc {
		zone = time.UTC
	}
	for _, form := range []string{"20060102", "200601021504", "20060102150405"} {
		if at, err := time.ParseInLocation(form, digits, zone); err == nil && len(form) == len(digits) {
			return at, nil
		}
	}
	return before, fmt.Errorf("%q is no time: write YYYYMMDD or YYYYMMDDHHMM[SS], with a Z for UTC", value)
}

// allowed returns the line that allows a key to sign for git, at all of the times.
func allowed(lines []allowedSigner, key ssh.PublicKey, times ...time.Time) (allowedSigner, error) {
	var why error
	for _, line := range lines {
		if !sameKey(line.key, key) {
			continue
		}
		err := line.allows(times...)
		if err == nil {
			return line, nil
		}
		why = cmp.Or(why, err)
	}
	if why == nil {
		why = untrusted(trustHint, "it is signed by SSH key %s, which is not trusted", ssh.FingerprintSHA256(key))
	}
	return allowedSigner{}, why
}

func (s allowedSigner) allows(times ...time.Time) error {
	by := fmt.Sprintf("SSH key %s (line %d)", ssh.FingerprintSHA256(s.key), s.line)
	if s.namespaces != "" && !matches(s.namespaces, gitNamespace) {
		return untrusted(trustHint, "it is signed by %s, which may not sign for git", by)
	}
	for _, at := range times {
		if !s.validAfter.IsZero() && at.Before(s.validAfter) {
			return untrusted(expiredHint, "it is signed by %s before the key became valid", by)
		}
		if !s.validBefore.IsZero() && at.After(s.validBefore) {
			return untrusted(expiredHint, "it is signed by %s, which has expired", by)
		}
	}
	return nil
}

// matches reports whether a list of patterns names a word: one of them does,
// and none with a ! in front. An asterisk stands for any text.
func matches(patterns, name string) bool {
	found := false
	for pattern := range strings.SplitSeq(patterns, ",") {
		pattern, negated := strings.CutPrefix(pattern, "!")
		literal := strings.NewReplacer(`\`, `\\`, `[`, `\[`).Replace(pattern)
		if ok, _ := path.Match(literal, name); ok && negated {
			return false
		} else if ok {
			found = true
		}
	}
	return found
}
