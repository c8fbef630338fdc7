package sink

import (
	"context"
	"fmt"

	"github.com/seawall-dev/seawall/desired"
)

// Look asks a place whether a delivery to a key could begin: everything that
// [Sinks.Check] looks at, and for Vault and Kubernetes the login and a read of the path
// that the delivery would write. It writes nothing; whether writing is allowed is seen
// with the first delivery.
func (s *Sinks) Look(ctx context.Context, where desired.Sink) error {
	if err := s.Check(where); err != nil {
		return err
	}
	remote, ok := s.byName[where.Name].(server)
	if !ok {
		return nil
	}
	if err := remote.look(ctx, where.Key); err != nil {
		return fmt.Errorf("sink %q, key %q: %w", where.Name, where.Key, err)
	}
	return nil
}
