package postgres

import (
	"errors"
	"testing"
)

// A server is refused by its version alone, in whichever form it says that; PgBouncer tells that of its
// server.
func TestOldServer(t *testing.T) {
	for version, old := range map[string]bool{"13.11 (Debian 13.11-1)": true, "9.6.24": true, "13": true, "14.0": false, "15.3 (Debian 15.3-1)": false, "18beta1": false, "": false} {
		if err := newEnough(version); errors.Is(err, ErrOldServer) != old {
			t.Errorf("%q: %v", version, err)
		}
	}
}
