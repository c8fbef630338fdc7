package sink

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge"
)

// What the sinks that are asked over a network have in common.

// server is a sink that is asked over a network.
type server struct {
	remote
	timeout time.Duration // of one delivery
}

// remote is what differs between them.
type remote interface {
	check(key string) error
	// reach begins a delivery to a key, which is sound. leave ends it.
	reach(ctx context.Context, key string) (to exchange, leave func(), err error)
}

func (s server) deliver(ctx context.Context, key string, secret edge.Secret) error {
	return s.within(ctx, key, func(ctx context.Context, to exchange) error { return put(ctx, to, secret) })
}

func (s server) look(ctx context.Context, key string) error {
	return s.within(ctx, key, func(ctx context.Context, to exchange) error {
		_, err := to.holds(ctx, edge.Secret{})
		return err
	})
}

// within bounds one delivery.
func (s server) within(ctx context.Context, key string, do func(context.Context, exchange) error) error {
	if err := s.check(key); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("it took longer than %v", s.timeout))
	defer cancel()
	to, leave, err := s.reach(ctx, key)
	if err != nil {
		return err
	}
	defer leave()
	return do(ctx, to)
}

const (
	maxAnswer = 4 << 20  // bytes of an answer that are read; a Secret has 1 MiB at most
	maxFile   = 64 << 10 // bytes of a file with a certificate, a token or a kubeconfig
	attempts  = 2        // of a write that someone else got ahead of
)

// errConflict: what was read has changed before it was written.
var errConflict = errors.New("another client changed it at the same time, twice in a row; the next run tries again")

// exchange is what two kinds of sinks do alike: look, write what is missing, look
// again.
type exchange interface {
	// holds reads the place and reports whether the secret is there already.
	holds(ctx context.Context, secret edge.Secret) (bool, error)
	// write puts the secret where holds has looked. With errConflict nothing was
	// written.
	write(ctx context.Context, secret edge.Secret) error
}

// put brings a secret to a place. One that is there is not written again, and
// one that was written is read back.
func put(ctx context.Context, to exchange, secret edge.Secret) error {
	for range attempts {
		there, err := to.holds(ctx, secret)
		if there || err != nil {
			return err
		}
		err = to.write(ctx, secret)
		if errors.Is(err, errConflict) {
			continue
		}
		if err != nil {
			return err
		}
		return prove(ctx, to, secret)
	}
	return errConflict
}

func prove(ctx context.Context, to exchange, secret edge.Secret) error {
	there, err := to.holds(ctx, secret)
	if err == nil && !there {
		err = errors.New("it was written, but reading it back gives something else")
	}
	return err
}

// same compares in constant time: the other side may be a stranger's guess.
func same(a string, b edge.Secret) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b.Reveal())) == 1
}

func soundTimeout(d time.Duration) (time.Duration, error) {
	switch {
	case d < 0:
		return 0, fmt.Errorf("the timeout %v is below zero", d)
	case d == 0:
		return usualTimeout, nil
	}
	return d, nil
}

// count counts what is true.
func count(facts ...bool) (n int) {
	for _, fact := range facts {
		if fact {
			n++
		}
	}
	return n
}

// readFile reads a file of a bounded size, which no other user may write to: it says where
// secrets are sent, or whom to believe there.
func readFile(path string) ([]byte, error) { return trusted.Read(path, maxFile) }
