package deprecation

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"time"
)

// Observer collects what a program's own requests and their answers use: for
// each rule the newest notice. It is safe for concurrent use.
type Observer struct {
	matcher *Matcher

	mu      sync.Mutex
	notices map[string]seen
}

// seen is a notice and when it was last seen.
type seen struct {
	Notice
	at time.Time
}

// seenFor is how long a notice lasts that is not seen again: a platform may take
// an announcement back, and a program may mend its calls.
const seenFor = 24 * time.Hour

// observed bounds how many rules are remembered; a calendar has fewer, and what a
// platform announces by itself has few ids.
const observed = 200

// NewObserver returns an observer that has seen nothing.
func NewObserver(m *Matcher) *Observer {
	return &Observer{matcher: m, notices: map[string]seen{}}
}

// Observe looks at a request and its answer. It is made for being called with
// each: one that no rule is about and that announces nothing costs a look at its
// path, its headers and the text of its body.
func (o *Observer) Observe(req Request, res Response, at time.Time) {
	may := o.matcher.MayMatch([]byte(req.URL))
	if !may && !announces(res) {
		return
	}
	for _, n := range append(o.matcher.Match(req, at), o.matcher.MatchResponse(req, res, at)...) {
		o.note(seen{n, at})
	}
}

func (o *Observer) note(n seen) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.notices[n.Rule]; known || len(o.notices) < observed {
		o.notices[n.Rule] = n
	}
}

// Notices returns what was seen within a day of at, by rule, and forgets the rest.
func (o *Observer) Notices(at time.Time) []Notice {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := make([]Notice, 0, len(o.notices))
	for rule, n := range o.notices {
		if at.Sub(n.at) > seenFor {
			delete(o.notices, rule)
			continue
		}
		list = append(list, n.Notice)
	}
	slices.SortFunc(list, func(a, b Notice) int { return cmp.Compare(a.Rule, b.Rule) })
	return list
}

// announces reports whether an answer may say something of deprecations itself.
func announces(res Response) bool {
	for _, name := range []string{"Deprecation", "Sunset", "Link"} {
		if len(res.Header[name]) > 0 {
			return true
		}
	}
	return hasMessages(res.Body)
}

// hasMessages reports whether an envelope may hold messages. It looks at the
// text, and takes white space or an unknown form for a yes: the body is decoded
// only then.
func hasMessages(body []byte) bool {
	const member = `"messages"`
	i := bytes.LastIndex(body, []byte(member))
	if i < 0 {
		return false
	}
	rest := bytes.TrimLeft(body[i+len(member):], " \t\r\n:")
	return !bytes.HasPrefix(rest, []byte("[]")) && !bytes.HasPrefix(rest, []byte("null"))
}
