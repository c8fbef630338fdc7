package signature

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// Object is a commit or tag, taken apart from its raw bytes. They never come from an
// encoder: that of go-git leaves out what it does not know.
type Object struct {
	Target  string   // of a commit its tree, of a tag its commit: 40 hexadecimal digits
	Parents []string // of a commit
	Name    string   // of a tag

	payload   []byte    // what was signed: the object without its signature
	signature []byte    // armored; empty for none
	when      time.Time // when it was made, by its own account
}

// ReadCommit takes the header gpgsig out of a commit, as git does to sign and
// to verify. Git and go-git differ in what they make of odd headers; those are
// refused, so that what is verified is what is read.
func ReadCommit(raw []byte) (Object, error) {
	header, message, ok := bytes.Cut(raw, []byte("\n\n"))
	if !ok {
		return Object{}, untrusted(brokenHint, "its headers do not end")
	}
	kept, signature, err := cutSignature(string(header))
	if err != nil {
		return Object{}, err
	}
	o := Object{signature: []byte(signature)}
	o.payload = slices.Concat([]byte(strings.Join(kept, "\n")), []byte("\n\n"), message)
	return o, o.readCommit(kept)
}

// Text stands for what was signed, in 40 hexadecimal digits. A signature can be written in many ways,
// and with each the object is another one: this is the same.
func (o Object) Text() string {
	sum := sha256.Sum256(o.payload)
	return hex.EncodeToString(sum[:20])
}

// cutSignature parts the lines of a header from the signature among them.
func cutSignature(header string) (kept []string, signature string, err error) {
	inside := false
	for line := range strings.SplitSeq(header, "\n") {
		value, begins := strings.CutPrefix(line, "gpgsig ")
		switch {
		case inside && strings.HasPrefix(line, " "):
			signature += line[1:] + "\n"
			continue
		case begins && signature == "":
			signature, inside = value+"\n", true
			continue
		case begins:
			return nil, "", untrusted(brokenHint, "it has more than one signature")
		case strings.HasPrefix(line, "gpgsig"):
			return nil, "", untrusted(brokenHint, "it has a signature of an unknown format")
		}
		inside = false
		kept = append(kept, line)
	}
	return kept, signature, nil
}

// readCommit reads what comes first in every commit.
func (o *Object) readCommit(lines []string) error {
	next := reader{lines}
	o.Target = next.hash("tree")
	for parent := next.hash("parent"); parent != ""; parent = next.hash("parent") {
		o.Parents = append(o.Parents, parent)
	}
	_, authored := next.value("author")
	committer, committed := next.value("committer")
	when, timed := madeAt(committer)
	if o.Target == "" || !authored || !committed || !timed || next.again("tree", "parent", "author", "committer") {
		return untrusted(brokenHint, "its headers are not those of a commit that git made")
	}
	o.when = when
	return nil
}

// ReadTag parts a tag of a commit from the signature at its end. Of several
// beginnings the last one counts, as in git: those before are of the message.
func ReadTag(raw []byte) (Object, error) {
	header, _, ok := bytes.Cut(raw, []byte("\n\n"))
	if !ok {
		return Object{}, untrusted(brokenHint, "its headers do not end")
	}
	o := Object{payload: raw}
	if at := bytes.LastIndex(raw[len(header):], []byte("\n-----BEGIN ")); at >= 0 {
		at += len(header) + len("\n")
		o.payload, o.signature = raw[:at], raw[at:]
	}
	next := reader{strings.Split(string(header), "\n")}
	o.Target = next.hash("object")
	kind, _ := next.value("type")
	o.Name, _ = next.value("tag")
	tagger, _ := next.value("tagger")
	when, timed := madeAt(tagger)
	switch {
	case o.Target == "" || kind == "" || o.Name == "" || !timed || len(next.lines) > 0:
		return o, untrusted(brokenHint, "its headers are not those of a tag that git made")
	case kind != "commit":
		return o, untrusted("tag the commit itself", "it tags a %s", kind)
	}
	o.when = when
	return o, nil
}

// reader takes header lines from the front.
type reader struct{ lines []string }

// value returns what the next line says of a name, if it is that line.
func (r *reader) value(name string) (string, bool) {
	if len(r.lines) == 0 {
		return "", false
	}
	value, ok := strings.CutPrefix(r.lines[0], name+" ")
	if !ok {
		return "", false
	}
	r.lines = r.lines[1:]
	return value, true
}

var objectName = lazyregexp.New(`^[0-9a-f]{40}$`)

// hash is value for a hash in the only form in which git writes one.
func (r *reader) hash(name string) string {
	value, ok := r.value(name)
	if !ok || !objectName().MatchString(value) {
		return ""
	}
	return value
}

// again reports whether one of the names comes once more.
func (r *reader) again(names ...string) bool {
	return slices.ContainsFunc(r.lines, func(line string) bool {
		words := strings.Fields(line)
		return len(words) > 0 && slices.Contains(names, words[0]) && !strings.HasPrefix(line, " ")
	})
}

var person = lazyregexp.New(`^[^<>]*<[^<>]*> (\d{1,12}) [+-]\d{4}$`)

// madeAt reads the time at the end of "Ada <ada@example.com> 1767225600 +0000".
func madeAt(line string) (time.Time, bool) {
	found := person().FindStringSubmatch(line)
	if found == nil {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(found[1], 10, 64)
	return time.Unix(seconds, 0), err == nil
}

// armors are the beginnings of what git may put into a signature.
var armors = map[Form]string{OpenPGP: "PGP SIGNATURE", SSH: "SSH SIGNATURE"}

func formOf(signature []byte) Form {
	for kind, name := range armors {
		if bytes.HasPrefix(signature, []byte("-----BEGIN "+name+"-----")) {
			return kind
		}
	}
	return ""
}

// oneArmor makes sure that a signature is one armored block and nothing else, and returns
// what is in it: what stood around it would be unsigned.
func oneArmor(signature []byte, kind Form) (string, error) {
	text, begins := strings.CutPrefix(strings.TrimRight(string(signature), " \t\r\n"), "-----BEGIN "+armors[kind]+"-----")
	text, ends := strings.CutSuffix(text, "-----END "+armors[kind]+"-----")
	if !begins || !ends || strings.Contains(text, "-----") {
		return "", untrusted(brokenHint, "there is other text beside its signature")
	}
	return text, nil
}

func broken(err error) error {
	const longest = 200 // bytes of a library's text
	text, _, _ := strings.Cut(strings.TrimSpace(fmt.Sprint(err)), "\n")
	return untrusted(brokenHint, "its signature cannot be read: %s", strings.ToValidUTF8(text[:min(len(text), longest)], ""))
}
