package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired/failure"
)

// maxMessage bounds the text of a [JobError].
const maxMessage = 8 << 10

// session is the life of one child.
type session struct {
	*child
	limits   Limits
	deadline time.Time
	onStep   func(string, json.RawMessage) error
	redact   func(text string) string // a text without secrets

	awake    time.Duration // within which a child that was started ahead says that it has its order; zero: it was not
	begun    map[string]bool
	heard    bool // the child has said anything at all of its job
	stepEnds time.Time
	output   int64
	timer    *time.Timer // fires at stepEnds
	pulse    pulse

	mu      sync.Mutex // of what the timers look at
	step    string
	cause   error // why the child was killed; the first reason counts
	settled bool  // the outcome is known: later reasons come too late
	reaped  bool
}

func (s *session) run(ctx context.Context, order []byte) error {
	defer s.stdin.Close()
	s.stepEnds = time.Now().Add(s.limits.PerStep)
	s.timer = time.AfterFunc(s.limits.PerStep, func() { s.killFor(BoundTime, s.limits.PerStep) })
	total := time.AfterFunc(time.Until(s.deadline), func() { s.killFor(BoundTotal, s.limits.Total) })
	stopWatching := context.AfterFunc(ctx, func() { s.kill(context.Cause(ctx)) })
	s.pulse.begin(cmp.Or(s.awake, s.limits.Silence), func(limit time.Duration) { s.killFor(BoundSilence, limit) })
	defer func() { s.timer.Stop(); total.Stop(); s.pulse.stop(); stopWatching() }()

	go func() {
		// A child that dies before it has read everything is found out by its
		// silence. The pipe stays open: its end tells the child that we are gone.
		_ = writeFrame(s.stdin, frameOrder, order)
	}()
	ended, err := s.listen()
	if ended || err != nil {
		s.settle(err)
	}
	return s.outcome(ended, s.reap())
}

// listen reads frames until the child says that it has ended, or its pipe
// ends, which is no error here.
func (s *session) listen() (ended bool, err error) {
	for {
		kind, payload, err := readFrame(s.stdout, s.limits.Output)
		s.pulse.beat(s.limits.Silence)
		s.heard = s.heard || err == nil && kind != frameAlive
		switch {
		case errors.Is(err, errFrameTooBig):
			return false, s.tripped(BoundOutput, failure.Bytes(s.limits.Output))
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrClosed):
			return false, nil
		case err != nil:
			return false, s.tripped(BoundCrash, "it answered with something else than frames")
		}
		if ended, err := s.handle(kind, payload); ended || err != nil {
			return ended, err
		}
	}
}

func (s *session) handle(kind frameKind, payload []byte) (ended bool, err error) {
	switch kind {
	case frameBegin:
		s.begin(string(payload))
		return false, nil
	case frameAlive:
		return false, nil
	case frameResult:
		return false, s.result(payload)
	case frameError:
		return true, &JobError{Step: s.step, Message: string(payload[:min(len(payload), maxMessage)])}
	case frameDone:
		return true, nil
	default:
		return false, s.tripped(BoundCrash, "it answered with something else than frames")
	}
}

func (s *session) begin(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step = step
	s.begun[step] = true
	s.stepEnds = time.Now().Add(s.limits.PerStep)
	s.timer.Reset(s.limits.PerStep)
}

func (s *session) result(payload []byte) error {
	if s.output += int64(len(payload)); s.output > s.limits.Output {
		return s.tripped(BoundOutput, failure.Bytes(s.limits.Output))
	}
	if !json.Valid(payload) {
		return s.tripped(BoundCrash, "it answered with something else than JSON")
	}
	if s.onStep == nil {
		return nil
	}
	s.timer.Stop()
	s.pulse.stop() // nothing is heard meanwhile
	paused := time.Now()
	err := s.onStep(s.step, bytes.Clone(payload))
	s.stepEnds = s.stepEnds.Add(time.Since(paused))
	s.timer.Reset(time.Until(s.stepEnds))
	s.pulse.beat(s.limits.Silence)
	return err
}

func (s *session) tripped(bound Bound, limit string) *BoundError {
	return &BoundError{Bound: bound, Limit: limit, Step: s.step}
}

func (s *session) killFor(bound Bound, limit time.Duration) {
	s.mu.Lock()
	err := s.tripped(bound, limit.String())
	s.mu.Unlock()
	s.kill(err)
}

// settle records the outcome and ends what is left of the child.
func (s *session) settle(outcome error) {
	s.kill(outcome)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled = true
}

// kill ends the child and its whole process group, and remembers the first
// reason. After the child was waited for, its number may belong to someone
// else: then nothing is killed.
func (s *session) kill(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reaped {
		return
	}
	if s.cause == nil && !s.settled {
		s.cause = cause
	}
	killGroup(s.cmd.Process)
	_ = s.stdout.Close() // a grandchild that got away must not keep us listening
}

// reap waits for the child, and kills what it left behind.
func (s *session) reap() error {
	if awaitExit(s.cmd.Process) {
		s.kill(nil) // the number is the child's until it is waited for
		s.markReaped()
		return s.cmd.Wait()
	}
	err := s.cmd.Wait()
	s.kill(nil)
	s.markReaped()
	return err
}

func (s *session) markReaped() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reaped = true
}

// stillborn reports whether the child has ended by itself, or does not run, before it said anything of
// its job. One that was started ahead may have been killed or stopped meanwhile, which is not the
// job's fault.
func (s *session) stillborn(err error) bool {
	var bound *BoundError
	return !s.heard && errors.As(err, &bound) && slices.Contains([]Bound{BoundCrash, BoundMemory, BoundKilled, BoundSilence}, bound.Bound)
}

// outcome says why the child is gone.
func (s *session) outcome(ended bool, exit error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.cause
	if err == nil && !ended {
		err = s.diagnose(exit)
	}
	if bound, ok := errors.AsType[*BoundError](err); ok {
		bound.Stderr = s.redact(s.stderr.String())
	}
	return err
}
