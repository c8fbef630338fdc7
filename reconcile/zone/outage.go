package zone

import (
	"errors"
	"fmt"
	"sync"

	"github.com/seawall-dev/seawall/edge"
)

// outage tells a platform that is down from a zone that fails: after so many
// unavailable answers in a row, whatever the zones, the rest is not asked. Each
// would cost all its retries, and a fleet of them hours.
type outage struct {
	limit int

	mu     sync.Mutex
	streak int
	last   error
}

// note learns the outcome of a read.
func (o *outage) note(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !errors.Is(err, edge.ErrUnavailable) {
		o.streak, o.last = 0, nil
		return
	}
	o.streak, o.last = o.streak+1, err
}

// err is why nothing more should be asked, nil while there is no reason.
func (o *outage) err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.streak < o.limit {
		return nil
	}
	return fmt.Errorf("not asked after %d unavailable answers in a row: %w", o.streak, o.last)
}
