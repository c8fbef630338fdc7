package heap

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

func TestGrowth(t *testing.T) {
	for live, want := range map[uint64]int{
		0: ToStay, 10 << 20: ToStay, cheapGrowth: ToStay, 2 * cheapGrowth: 50, 100 * cheapGrowth: leastPercent, 1 << 62: leastPercent,
	} {
		if got := growth(live, ToStay); got != want {
			t.Errorf("%d bytes are live: the heap may grow by %d percent, want %d", live, got, want)
		}
	}
	if got := growth(cheapGrowth*2/3, ToEnd); got != 150 {
		t.Errorf("the heap of a command may grow by %d percent, want 150", got)
	}
}

// The growth is that for what is live, after each collection, as long as it is followed.
func TestFollow(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(ToStay))
	ctx, stop := context.WithCancel(t.Context())
	Follow(ctx, ToEnd)
	for _, size := range []int{0, 3 * cheapGrowth, 0} {
		kept := make([]byte, size)
		until(t, func(live uint64, percent int) bool {
			want := growth(live, ToEnd)
			return (live > 2*cheapGrowth) == (size > 0) && max(want-percent, percent-want) <= slightly
		})
		runtime.KeepAlive(kept)
	}
	stop()
	until(t, func(_ uint64, percent int) bool { return percent == ToStay })
}

// until collects until it is so.
func until(t *testing.T, so func(live uint64, percent int) bool) {
	t.Helper()
	for range 1000 {
		runtime.GC()
		now := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
		metrics.Read(now)
		if so(now[0].Value.Uint64(), int(now[1].Value.Uint64())) {
			return
		}
		runtime.Gosched()
	}
	t.Fatal("the growth never is what it should be")
}
