package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/trace"
)

// call is a request of the contract, before it has an address.
type call struct {
	name   edge.Call
	level  edge.Level
	class  class
	method string
	path   string // relative to the base address
	query  url.Values
	body   any // nil for none
	// tells says that the call calls what [edge.BeforeSend] put into its context.
	tells bool
}

// reading is a call that only reads.
func reading(name edge.Call, level edge.Level, path string) call {
	return call{name: name, level: level, class: read, method: http.MethodGet, path: path}
}

// String is method and path, as errors and recorders show a call.
func (c call) String() string { return c.method + " " + c.path }

// tell ends the span of one attempt.
func (c call) tell(span trace.Span, made *attempt) {
	if !span.Recorded() {
		return
	}
	span.Text(trace.Call, string(c.name))
	span.Text(trace.Method, c.method)
	span.Text(trace.Path, c.path)
	span.Text(trace.Outcome, string(made.outcome))
	span.End(made.err)
}

func (c call) unreadable(reason string) error { return unreadable(c.String(), reason) }

func unreadable(call, reason string) error {
	return fmt.Errorf("%s: %w: %s", call, edge.ErrUnreadable, reason)
}

// try waits for a slot and for the budget, sends once, and says what came of it.
func (c *Client) try(ctx context.Context, call call, token edge.Secret, d *deadline, decode func(wire.Response) error) (made *attempt) {
	ctx, span := trace.Start(ctx, trace.PlatformCall)
	defer func() { call.tell(span, made) }()
	began := time.Now()
	if err := c.admit(ctx, d); err != nil {
		return &attempt{call.class, notSent, err}
	}
	admitted := time.Now()
	span.Took(trace.Waited, admitted.Sub(began))
	if call.tells {
		if err := edge.Sending(ctx); err != nil {
			c.end(ctx, 0, wire.Response{})
			return &attempt{call.class, withheld, fmt.Errorf("%s: %w", call, err)}
		}
	}
	answer, sent, err := c.send(ctx, call, token, admitted, d)
	c.end(ctx, sent, answer)
	if answer.Status != 0 {
		span.Answered(answer.Status)
	}
	c.observe(call, answer)
	c.tellMessages(call, answer)
	o := outcomeOfFailure(answer.Status, sent)
	switch {
	case err == nil:
		return judge(call, answer, decode)
	case ctx.Err() != nil:
		err = fmt.Errorf("%s: %w", call, ctx.Err())
	case answer.Status == 0:
		err = fmt.Errorf("%s: %w: %s", call, edge.ErrUnavailable, edge.Redact(c.reason(err)))
	case o == garbled || o == mumbled:
		err = call.unreadable(edge.Redact(c.reason(err)))
	default: // the status says enough
		return judge(call, answer, decode)
	}
	return &attempt{call.class, o, err}
}

// admit waits for a slot, which the caller gives back, and for the budget. The
// time of a read stands still meanwhile.
func (c *Client) admit(ctx context.Context, d *deadline) error {
	d.pause()
	defer d.run()
	return c.config.Budget.take(ctx, c.slots, c.tellWait)
}

// end ends what admit has admitted. Another request is under way while this answer is decoded,
// but not before the budget knows what the answer says of limits.
func (c *Client) end(ctx context.Context, sent int, answer wire.Response) {
	c.requests.Add(int64(sent))
	pause := c.config.Budget.end(c.config.Budget.classOf(ctx), sent, answer.Status, answer.Header)
	c.slots.give()
	if pause > 0 && since(&c.toldSlow, throttledEvery) {
		c.config.Log.Warn("the platform throttles this credential; all its calls wait", "pause", pause)
	}
}

// throttledEvery is how often at most it is reported that the platform throttles.
const throttledEvery = 10 * time.Minute

// since reports whether something was told so long ago that it may be told again, and
// notes that it is.
func since(told *atomic.Int64, every time.Duration) bool {
	now, last := time.Now().Unix(), told.Load()
	return now-last >= int64(every/time.Second) && told.CompareAndSwap(last, now)
}

// tellWait says, at most once a minute, what is waited for: a person who watches would
// otherwise see nothing for minutes.
func (c *Client) tellWait(what waitsFor, pause time.Duration) {
	if what == moment || !since(&c.toldWait, time.Minute) {
		return
	}
	const hint = "it goes on by itself; a plan of few zones (--only zone=NAME) needs fewer requests"
	switch left, budget := max(pause, time.Second).Round(time.Second).String(), c.config.Budget; what {
	case asked:
		c.config.Log.Info("the platform asked to wait (429, Retry-After); waiting for it", "for", left)
	case toldUp:
		c.config.Log.Info("the platform says that its quota for this credential is used up; waiting for its end", "for", left)
	case keptUp:
		c.config.Log.Info("the rest of the request budget is kept for more urgent requests; waiting for it", "for", left, "requests", budget.requests, "per", budget.per, "hint", hint)
	default:
		c.config.Log.Info("the request budget is used up; waiting for it", "for", left, "requests", budget.requests, "per", budget.per, "hint", hint)
	}
}

// observe shows an answer to whoever looks for deprecations.
func (c *Client) observe(call call, answer wire.Response) {
	if c.config.Observe == nil || answer.Status == 0 {
		return
	}
	shown := deprecation.Response{Header: answer.Header, Body: answer.Body}
	if call.class == create || call.class == roll {
		shown.Body = nil
	}
	c.config.Observe(deprecation.Request{Method: call.method, URL: call.path + query(call)}, shown)
}

// judge looks into an answer that was read to its end.
func judge(call call, answer wire.Response, decode func(wire.Response) error) *attempt {
	err := redacted(decode(answer))
	o := outcomeOf(answer.Status)
	if o == succeeded && err != nil {
		o = contradicted
		if errors.Is(err, edge.ErrUnreadable) {
			o = garbled
		}
	}
	return &attempt{call.class, o, err}
}

// send sends one request and reads the answer to its end. The answer has a
// status as soon as one arrived, even where err is not nil. sent is how many
// requests may have left the machine: the transport repeats a read by itself
// when a connection it had kept turns out to be closed, and never what answers
// with a secret.
func (c *Client) send(ctx context.Context, call call, token edge.Secret, admitted time.Time, d *deadline) (answer wire.Response, sent int, err error) {
	if !d.within(c.config.Timeout) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.config.Timeout)
		defer cancel()
	}
	var seen progress
	req, err := wire.NewRequest(httptrace.WithClientTrace(ctx, seen.trace()), call.method, c.address(call), call.body)
	if err != nil {
		return answer, 0, err
	}
	c.identify(req, token)

	begin := time.Now()
	transport := c.config.Transport
	if call.class == create || call.class == roll {
		// A body that can be read twice, or an Idempotency-Key, is what makes a
		// transport repeat a write by itself. There is neither.
		transport, req.GetBody = c.creator, nil
	}
	if begin.Sub(admitted) > leaveWithin || begin.Round(0).Sub(admitted.Round(0)) > leaveWithin {
		return answer, 0, errLate
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return answer, seen.sent(ctx.Err() != nil), err
	}
	defer res.Body.Close()
	answer = wire.Response{Call: call.String(), Status: res.StatusCode, Header: res.Header}
	answer.Body, err = readBody(res.Body, res.ContentLength)
	if c.config.Log.Enabled(ctx, slog.LevelDebug) {
		c.config.Log.DebugContext(ctx, "request", "call", answer.Call, "status", answer.Status, "bytes", len(answer.Body), "took", time.Since(begin))
	}
	return answer, max(seen.sent(false), 1), err
}

// leaveWithin is how long after the budget has admitted a request it may leave. A process that was
// stopped meanwhile, or its machine suspended, may not count with the others any more: see underWay;
// and another may have the zone by now.
const leaveWithin = 15 * time.Second

var errLate = errors.New("this process was stopped before it could send the request")

func (c *Client) address(call call) string { return c.url + call.path + query(call) }

func query(call call) string {
	if len(call.query) == 0 {
		return ""
	}
	return "?" + call.query.Encode()
}

var errTooLarge = fmt.Errorf("the answer is larger than %d MiB", wire.MaxBody>>20)

// readBody reads a body to its end, of which the platform may have said how long it is. Only the end
// itself counts as that, not an error that is about one: what was cut short is not whole.
func readBody(r io.Reader, length int64) ([]byte, error) {
	room := int64(bytes.MinRead)
	if length >= 0 {
		room = min(length, usualBody) + 1 // for the read that finds the end
	}
	body := make([]byte, 0, room)
	for r = io.LimitReader(r, wire.MaxBody+1); ; {
		if len(body) == cap(body) {
			body = slices.Grow(body, len(body)) // twice: it is copied less often
		}
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == nil:
		case err != io.EOF:
			return body, err
		case len(body) > wire.MaxBody:
			return nil, errTooLarge
		default:
			return body, nil
		}
	}
}

// usualBody is the longest body that is believed to come before it has: 1 MiB.
const usualBody = 1 << 20

// progress learns from the transport how far a request came.
type progress struct {
	asked, connected atomic.Bool
	wrote            atomic.Int32
}

func (p *progress) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:      func(string) { p.asked.Store(true) },
		GotConn:      func(httptrace.GotConnInfo) { p.connected.Store(true) },
		WroteHeaders: func() { p.wrote.Add(1) },
	}
}

// sent returns how many requests may have left; zero only where it is certain
// that none did. A transport that tells nothing is taken to have sent one. When
// time ran out the transport returns while its writer may still be at work, so
// a connection alone is enough.
func (p *progress) sent(timeUp bool) int {
	wrote := int(p.wrote.Load())
	if !p.asked.Load() || p.connected.Load() && timeUp {
		return max(wrote, 1)
	}
	return wrote
}
