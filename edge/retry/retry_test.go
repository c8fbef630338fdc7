package retry_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/failsafe-go/failsafe-go"

	"github.com/seawall-dev/seawall/edge/retry"
)

// TestDelay: pauses grow from the first to the longest, and stay there.
func TestDelay(t *testing.T) {
	for _, c := range []struct {
		policy retry.Policy
		want   string // after 0 failures in a row, 1, 2 and so on
	}{
		{retry.Names, "[5s 5s 10s 20s 40s 1m20s 2m40s 5m0s 5m0s]"},
		{retry.Names.Within(retry.Away), "[5s 5s 10s 10s 10s 10s 10s 10s 10s]"},
		{retry.Names.Within(time.Second), "[1s 1s 1s 1s 1s 1s 1s 1s 1s]"},
		{retry.Status, "[30s 30s 30s 30s 30s 30s 30s 30s 30s]"},
	} {
		var got []time.Duration
		for failures := range 9 {
			got = append(got, c.policy.Delay(failures))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%+v: %v, want %s", c.policy, got, c.want)
		}
	}
	if got := retry.Unkept.Delay(1 << 40); got != retry.Unkept.Most {
		t.Errorf("after very many failures: %v", got)
	}
}

// TestSpread: what failed together does not stay together.
func TestSpread(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 100 {
		got := retry.Zone.Spread(1)
		if got < 4500*time.Millisecond || got > 5500*time.Millisecond {
			t.Fatalf("a pause of %v, want 5s, a tenth more or less", got)
		}
		seen[got] = true
	}
	if len(seen) < 50 {
		t.Errorf("%d different pauses of 100", len(seen))
	}
}

// TestInPlace: failsafe-go waits as the policy says.
func TestInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := retry.Policy{First: time.Second, Most: 3 * time.Second, Attempts: 5}
		began := time.Now()
		var got []time.Duration
		_ = failsafe.With(retry.InPlace[any](policy).Build()).Run(func() error {
			got = append(got, time.Since(began))
			return errors.New("no")
		})
		if fmt.Sprint(got) != "[0s 1s 3s 6s 9s]" {
			t.Errorf("tried at %v", got)
		}
	})
}
