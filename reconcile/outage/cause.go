package outage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/reconcile"
)

// class is what follows from a cause.
type class int

const (
	other      class = iota // an answer that refuses: the zone's own matter
	unanswered              // no answer that could be used: may be the platform's
	denied                  // 403: may be the credential's
	rejected                // 401: the credential's
	ofState                 // the state folder's
)

// cause is why something failed.
type cause struct {
	text   string // the same for the same cause
	detail string // what the first failure said, in one line
	fix    string // what a person can do, where the error knows; see [hint]
	class  class

	answered  bool // there was an answer with a status
	throttled bool // 429
}

const (
	diskFull  = "the disk is full"
	openFiles = "too many files are open"
	fixOpen   = "raise the limit of open files of the daemon (LimitNOFILE, ulimit -n), or find who keeps so many connections to it open"
)

// Cause returns why something failed, as a text that is the same each time: no address,
// port, id, count or time is in it.
func Cause(err error) string { return causeOf(err).text }

// Line returns a text as one line for a log: of a page of HTML only the text, and no more
// than 300 bytes.
func Line(text string) string { return line(text) }

func causeOf(err error) cause {
	c := cause{detail: line(err.Error())}
	var answer *edge.Error
	var known interface{ Cause() string }
	var advised interface{ Advice() string }
	if errors.As(err, &advised) {
		c.fix = line(advised.Advice())
	}
	var unread *edge.CredentialError
	outcome, text := sentinel(err)
	switch {
	case errors.As(err, &unread):
		c.text, c.class = unread.Cause(), rejected
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		c.text, c.class = diskFull, ofState
		if !errors.As(err, &known) || known.Cause() != diskFull {
			c.fix = "" // it is about something else; whose disk is full says which disk
		}
	case errors.Is(err, reconcile.ErrState):
		c.class = ofState
		if c.text = Scrub(c.detail); errors.As(err, &known) {
			c.text = known.Cause()
		}
	case errors.As(err, &answer):
		c.text, c.class, c.answered = answered(answer), outcome, true
		c.refuse(answer, err)
	case outcome != other:
		c.text, c.class = text, outcome
	case errors.As(err, &known):
		c.text = known.Cause()
	default:
		c.text = Scrub(c.detail)
	}
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		c.text, c.fix = openFiles, fixOpen // whatever could not be opened is in order
	}
	c.throttled = errors.Is(err, edge.ErrThrottled)
	return c
}

// refuse adds what follows from the status of an answer, and from who has given it.
func (c *cause) refuse(answer *edge.Error, err error) {
	if c.class == other || answer.Foreign() {
		c.fix = diff.HintFor(err)
	}
	if answer.Status < http.StatusBadRequest {
		c.class = unanswered // an answer that contradicts itself
	}
}

// sentinels are the outcomes that have a text of their own, in the order in which they
// count where several fit.
var sentinels = []struct {
	is    error
	class class
	text  string
}{
	{edge.ErrUnauthenticated, rejected, edge.ErrUnauthenticated.Error()},
	{edge.ErrForbidden, denied, edge.ErrForbidden.Error()},
	{edge.ErrThrottled, unanswered, edge.ErrThrottled.Error()},
	{edge.ErrUnreadable, unanswered, edge.ErrUnreadable.Error()},
	{edge.ErrUnavailable, unanswered, "no answer from the platform"},
	{edge.ErrOutcomeUnknown, unanswered, edge.ErrOutcomeUnknown.Error()},
	{context.DeadlineExceeded, unanswered, "no answer in time"},
}

// sentinel is the first outcome that fits, with its text; other for none.
func sentinel(err error) (class, string) {
	for _, s := range sentinels {
		if errors.Is(err, s.is) {
			return s.class, s.text
		}
	}
	return other, ""
}

// answered is an answer that failed, without the call and without a body that is not the
// platform's own.
func answered(e *edge.Error) string {
	text := fmt.Sprintf("the platform answers %d %s", e.Status, http.StatusText(e.Status))
	if e.Status < http.StatusBadRequest {
		text += " with success: false"
	}
	if len(e.Details) > 0 {
		text += ": " + e.Details[0].Message
		if code := e.Details[0].Code; code != 0 {
			text += fmt.Sprintf(" (code %d)", code)
		}
	}
	return Scrub(text)
}

const (
	longestCause  = 160
	longestDetail = 300
)

var (
	hidden = lazyregexp.New(`(?is)<!--.*?-->|<(?:script|style|head)\b.*?</(?:script|style|head)\s*>`)
	page   = lazyregexp.New(`(?i)<(?:!doctype|html|head|body)\b`)
	markup = lazyregexp.New(`(?s)</?[a-zA-Z!][^>]*>?`)

	variable = []struct {
		what func() *regexp.Regexp
		by   string
	}{
		{lazyregexp.New(`\b(?:read|write|dial) (?:tcp|tcp4|tcp6|udp|unix)\S* [^:]*?\S+: `), ""},
		{lazyregexp.New(` ?\(tried \d+ times\)`), ""},
		{lazyregexp.New(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d[0-9:.Z+-]*`), "…"},
		{lazyregexp.New(`\[[0-9a-fA-F:]+\](?::\d+)?`), "…"},
		{lazyregexp.New(`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b`), "…"},
		{lazyregexp.New(`(:)\d{2,5}\b`), "$1…"},
		{lazyregexp.New(`\b(?:\d+(?:\.\d+)?(?:ns|µs|us|ms|s|m|h))+\b`), "…"},
		{lazyregexp.New(`\b[0-9a-fA-F]{8}-[0-9a-fA-F-]{20,}\b`), "…"},
		{lazyregexp.New(`\b[0-9a-fA-F]{12,}\b`), "…"},
		{lazyregexp.New(`\b((?:ray|request|trace)[ _-]?(?:id)?[:= ]+)\S+`), "$1…"},
	}
	large = lazyregexp.New(`(?:code )?\b\d{4,}\b`)
)

// Scrub takes out of a text what differs from one failure to the next of the same cause:
// addresses, ports, ids, times and large numbers. Statuses and codes stay.
func Scrub(text string) string {
	text = line(text)
	for _, v := range variable {
		text = v.what().ReplaceAllString(text, v.by)
	}
	text = large().ReplaceAllStringFunc(text, func(number string) string {
		if strings.HasPrefix(number, "code ") {
			return number
		}
		return "…"
	})
	return cut(strings.TrimSpace(text), longestCause)
}

// line makes one line of a text, without markup.
func line(text string) string {
	if page().MatchString(text) {
		text = markup().ReplaceAllString(hidden().ReplaceAllString(text, " "), " ")
	}
	return cut(strings.Join(strings.Fields(text), " "), longestDetail)
}

// cut shortens a text to at most so many bytes, not within a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most-len("…")]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + "…"
}
