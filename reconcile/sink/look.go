package sink

import (
	"context"
	"fmt"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Look asks a place whether a delivery to a key could begin: everything that
// [Sinks.Check] looks at, and for Vault and Kubernetes the login and a read of the path
// that the delivery would write. It writes nothing; whether writing is allowed is seen
// with the first delivery.
func (s *Sinks) Look(ctx context.Context, where desired.Sink) error {
	if err := s.Check(where); err != nil {
		return err
	}
	remote, ok := s.byName[where.Name].(interface {
		look(ctx context.Context, key string) error
	})
	if !ok {
		return nil
	}
	if err := remote.look(ctx, where.Key); err != nil {
		return fmt.Errorf("sink %q, key %q: %w", where.Name, where.Key, err)
	}
	return nil
}

func (v vault) look(ctx context.Context, key string) error {
	ctx, cancel := within(ctx, v.Timeout)
	defer cancel()
	visit, err := v.visit(key)
	if err != nil {
		return err
	}
	defer visit.leave(ctx)
	if err := visit.login(ctx); err != nil {
		return err
	}
	_, err = visit.holds(ctx, edge.Secret{})
	return err
}

func (c cluster) look(ctx context.Context, key string) error {
	name, entry, err := secretKey(key)
	if err != nil {
		return err
	}
	ctx, cancel := within(ctx, c.Timeout)
	defer cancel()
	access, err := c.access()
	if err != nil {
		return err
	}
	caller, err := newCaller(access)
	if err != nil {
		return err
	}
	_, err = (&secretEntry{caller: caller, namespace: c.Namespace, name: name, entry: entry}).holds(ctx, edge.Secret{})
	return err
}
