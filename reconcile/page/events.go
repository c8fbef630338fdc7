package page

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/seawall-dev/seawall/reconcile/login"
)

// eventsPath is the address of the streams of events.
const eventsPath = "/events"

const eventStream = "text/event-stream"

// The bounds of streams. A page needs one, and a person rarely has many pages open.
const (
	mostStreams       = 1000
	mostStreamsOfOne  = 20               // of one person, or of one address where there is no login
	changedEvery      = time.Second      // a stream reports changes at most so often
	beatEvery         = 15 * time.Second // proxies cut a connection that is silent for 30 s or more
	streamWriteWithin = 10 * time.Second // who does not read is cut then
	streamRetry       = 3 * time.Second  // after which a browser opens a stream again
	refusedFor        = 30 * time.Second // after which a refused reader may ask again
	refusalsEvery     = 10 * time.Minute // refused streams are logged at most so often
)

// errStreams: too many streams are open.
var errStreams = fmt.Errorf("%d streams of events are open, or %d of one person or address", mostStreams, mostStreamsOfOne)

// streams serves /events: a stream of events (text/event-stream) for each page that is open.
// The event "changed" says that something has changed that a page shows; a page then asks for
// it again. The first comes at once, so that nothing is missed between a page and its stream.
//
// A stream ends when its reader goes or is too slow, when the server stops, and with the
// context of its request, which the login ends with a session. It holds only the goroutine that serves the request.
type streams struct {
	changed  func() (count uint64, next <-chan struct{})
	stopping <-chan struct{} // closed when the server stops; nil: never
	log      *slog.Logger

	refusals rate.Sometimes
	mu       sync.Mutex
	total    int
	of       map[string]int // open streams by who opened them
}

func newStreams(c Config) *streams {
	return &streams{
		changed: c.Data.Changed, stopping: c.Stopping, log: c.Log, refusals: rate.Sometimes{Interval: refusalsEvery}, of: map[string]int{},
	}
}

// events serves [eventsPath].
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	person, known := h.person(r)
	if !known {
		h.fail(w, r, errWho)
		return
	}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", eventStream)
		return
	}
	if err := h.streams.serve(w, r, cmp.Or(person.Name, addressOf(r)), func(version uint64) uint64 { return h.shown(version, person) }); err != nil {
		h.fail(w, r, err)
	}
}

// shown is a version as a person is told it. Who may not see the whole fleet learns whether it is
// another one, and not how many changes there were: the sweep reads each zone.
func (h *handler) shown(version uint64, person login.Person) uint64 {
	if person.MayAll(login.Viewer) {
		return version
	}
	const exact = 53 // bits that a number of JSON has
	return binary.BigEndian.Uint64(h.said.sign(fmt.Sprint("version ", version))) >> (64 - exact)
}

// serve is one stream, of who. It returns an error where it has written nothing.
func (s *streams) serve(w http.ResponseWriter, r *http.Request, who string, shown func(uint64) uint64) error {
	if !s.enter(who) {
		w.Header().Set("Retry-After", strconv.Itoa(int(refusedFor.Seconds())))
		s.refusals.Do(func() { s.log.Warn("a stream of events was refused: too many are open", "who", who) })
		return errStreams
	}
	defer s.leave(who)
	o := stream{w, http.NewResponseController(w)}
	// What ends the answer, after this handler, is written within a deadline, too.
	defer o.deadline()
	w.Header().Set("Content-Type", eventStream)
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep events back
	s.follow(r, o, shown)
	return nil
}

// follow sends events until the stream ends.
func (s *streams) follow(r *http.Request, o stream, shown func(uint64) uint64) {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	version, next := s.changed()
	err := o.send(fmt.Sprintf("retry: %d\n%s", streamRetry.Milliseconds(), changedEvent(shown(version))))
	pause := time.After(changedEvery)
	for err == nil {
		change := next
		if pause != nil {
			change = nil // it waits
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.stopping:
			return
		case <-pause:
			pause = nil
		case <-change:
			version, next = s.changed()
			err = o.send(changedEvent(shown(version)))
			pause = time.After(changedEvery)
		case <-beat.C:
			err = o.send(": nothing else has changed\n\n")
		}
	}
}

func changedEvent(version uint64) string {
	return fmt.Sprintf("event: changed\ndata: {\"version\":%d}\n\n", version)
}

// stream is the answer that a stream is.
type stream struct {
	w       io.Writer
	control *http.ResponseController
}

// send writes all of a text. The deadline is for this write alone: with HTTP/2, one that
// passes ends an answer while nothing is written, too.
func (o stream) send(text string) error {
	o.deadline()
	if _, err := io.WriteString(o.w, text); err != nil {
		return err
	}
	if err := o.control.Flush(); err != nil {
		return err
	}
	return o.control.SetWriteDeadline(time.Time{})
}

// deadline bounds what is written from now on. A connection that knows no deadlines has none.
func (o stream) deadline() { _ = o.control.SetWriteDeadline(time.Now().Add(streamWriteWithin)) }

// enter counts a stream that opens; false where it may not.
func (s *streams) enter(who string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total >= mostStreams || s.of[who] >= mostStreamsOfOne {
		return false
	}
	s.total++
	s.of[who]++
	return true
}

func (s *streams) leave(who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.of[who]--; s.of[who] == 0 {
		delete(s.of, who)
	}
}

// addressOf is where a request is from, as far as streams are counted by it: one host has a
// whole network of IPv6 addresses.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	address, err2 := netip.ParseAddr(host)
	if cmp.Or(err, err2) != nil {
		return r.RemoteAddr
	}
	bits := address.Unmap().BitLen()
	if bits == 128 {
		bits = 64
	}
	network, err := address.Unmap().WithZone("").Prefix(bits)
	if err != nil {
		return r.RemoteAddr
	}
	return network.String()
}
