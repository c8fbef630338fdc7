package client

import (
	"testing"
	"testing/synctest"
	"time"
)

// A forecast says what is left, and after what time more comes.
func TestForecast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(10, time.Minute)
		if got := b.Forecast(); got != (Forecast{Left: 10}) {
			t.Errorf("unused: %+v", got)
		}
		for range 4 {
			take(t, b)
			b.done(1, 200, nil)
		}
		time.Sleep(20 * time.Second)
		if got := b.Forecast(); got != (Forecast{Left: 6, Next: 40 * time.Second}) {
			t.Errorf("after 4 requests: %+v", got)
		}
		for range 6 {
			take(t, b)
			b.done(1, 200, nil)
		}
		if got := b.Forecast(); got != (Forecast{Next: 40 * time.Second}) {
			t.Errorf("used up: %+v", got)
		}
		time.Sleep(40 * time.Second)
		if got := b.Forecast(); got != (Forecast{Left: 4, Next: 20 * time.Second}) {
			t.Errorf("after a minute: %+v", got)
		}
		take(t, b)
		b.done(1, 429, map[string][]string{"Retry-After": {"90"}})
		if got := b.Forecast(); got.Left != 0 || got.Next != 90*time.Second {
			t.Errorf("throttled: %+v", got)
		}
	})
}
