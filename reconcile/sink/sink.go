// Package sink takes the secrets of tokens to where they are needed. Sinks are
// defined by name in the daemon's configuration; the repository of desired
// state only names one, with a key below it. So whoever may merge there can
// neither run a command nor write a file of his choice.
//
//	sinks, err := sink.New(map[string]sink.Config{
//		"ci":    {File: &sink.File{Root: "/run/secrets/ci"}},
//		"store": {Exec: &sink.Exec{Argv: []string{"/usr/local/bin/put-secret"}}},
//		"vault": {Vault: &sink.Vault{Address: "https://vault.example", Prefix: "seawall", Auth: …}},
//		"apps":  {Kubernetes: &sink.Kubernetes{Namespace: "apps"}},
//	})
//	if err != nil { … }
//	if err := sinks.Check(where); err != nil { … }       // before a token is created
//	err = sinks.Deliver(ctx, where, secret)              // afterwards, until it is taken
//
// A delivery that failed may be repeated, and so may one that did not: the same
// secret arrives in the same place, another one replaces it. No error of this
// package holds a secret.
package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
)

// Config is one sink: exactly one of its fields is set.
type Config struct {
	File       *File
	Exec       *Exec
	Vault      *Vault
	Kubernetes *Kubernetes
}

// kinds are the names of a sink's kinds, as the configuration has them.
const kinds = "file, exec, vault and kubernetes"

// File writes each secret to a file of its own below Root, named by the key.
// The file holds the secret to the byte, without a line feed; it has mode 0600,
// the folders that are missing above it 0700.
type File struct {
	Root string // absolute; created where only the last folder is missing
}

// Exec runs a command for each delivery. It gets the secret on its standard
// input, to the byte, and in its environment SEAWALL_SINK, SEAWALL_KEY and of
// Seawall's own environment PATH, HOME and TMPDIR alone: there may be other
// secrets in it. Status 0 says that the secret is where it belongs.
type Exec struct {
	Argv    []string      // program and arguments; no shell is between
	Timeout time.Duration // for one delivery; zero is 30 s. The process group is killed then
}

// Sinks are the sinks of a configuration. It is safe for concurrent use; one
// secret is delivered after the other.
type Sinks struct {
	mu     sync.Mutex
	byName map[string]place
}

var _ reconcile.Sinks = (*Sinks)(nil)

// place is a sink of one kind. Keys that come to it are sound.
type place interface {
	check(key string) error
	deliver(ctx context.Context, key string, secret edge.Secret) error
}

// New returns the sinks, or all that is wrong with their configuration. It
// looks at nothing outside: what is missing now may be there when it is needed.
func New(configs map[string]Config) (*Sinks, error) {
	s := &Sinks{byName: map[string]place{}}
	var mistakes []error
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		to, err := newPlace(name, configs[name])
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("sink %q: %w", name, err))
		}
		s.byName[name] = to
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	return s, nil
}

func newPlace(name string, c Config) (place, error) {
	switch {
	case name == "":
		return nil, errors.New("it has no name")
	case count(c.File != nil, c.Exec != nil, c.Vault != nil, c.Kubernetes != nil) != 1:
		return nil, errors.New("it must be exactly one of " + kinds)
	case c.File != nil:
		return newFolder(*c.File)
	case c.Exec != nil:
		return newCommand(name, *c.Exec)
	case c.Vault != nil:
		return newVault(*c.Vault)
	default:
		return newCluster(*c.Kubernetes)
	}
}

// Check implements [reconcile.Sinks]. It writes nothing.
func (s *Sinks) Check(where desired.Sink) error {
	to, err := s.find(where)
	if err != nil {
		return err
	}
	if err := to.check(where.Key); err != nil {
		return fmt.Errorf("sink %q, key %q: %w", where.Name, where.Key, err)
	}
	return nil
}

// Deliver implements [reconcile.Sinks].
func (s *Sinks) Deliver(ctx context.Context, where desired.Sink, secret edge.Secret) (err error) {
	ctx, span := trace.Start(ctx, trace.Deliver)
	span.Text(trace.Sink, where.Name)
	defer func() { span.End(err) }()
	to, err := s.find(where)
	if err != nil {
		return err
	}
	if secret.IsZero() {
		return fmt.Errorf("sink %q, key %q: there is no secret to deliver", where.Name, where.Key)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := to.deliver(ctx, where.Key, secret); err != nil {
		return fmt.Errorf("delivering to sink %q, key %q: %w", where.Name, where.Key, err)
	}
	return nil
}

func (s *Sinks) find(where desired.Sink) (place, error) {
	to, ok := s.byName[where.Name]
	if !ok {
		return nil, fmt.Errorf("there is no sink %q in the configuration%s", where.Name, s.instead(where.Name))
	}
	if err := soundKey(where.Key); err != nil {
		return nil, fmt.Errorf("sink %q, key %q: %w", where.Name, where.Key, err)
	}
	return to, nil
}

// soundKey: a key is a path with "/" that stays below where it starts, and it
// means the same to every kind of sink on every system.
func soundKey(key string) error {
	switch {
	case key == "":
		return errors.New("the key is empty")
	case strings.HasPrefix(key, "/"):
		return errors.New("the key must be relative: it cannot begin with /")
	case strings.ContainsFunc(key, func(r rune) bool { return r == '\\' || r == unicode.ReplacementChar || unicode.IsControl(r) }):
		return errors.New(`the key cannot hold \ or what does not print`)
	case !fs.ValidPath(key) || key == ".":
		return errors.New("the key has a part that is empty, . or ..: it must stay below its sink")
	}
	return nil
}
