package daemon

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Go lets the heap grow to twice of what is live before it collects. For a large fleet
// the half of that would be hundreds of MiB, so it grows by as much as is cheap, and by
// a part of what is live that keeps collections rare.
const (
	cheapGrowth   = 48 << 20 // bytes
	mostPercent   = 100
	leastPercent  = 40
	heapLookEvery = time.Second
	slightly      = 5 // percent that are not worth a change
)

// heapGrowth is by how many percent of the bytes that are live the heap may grow.
func heapGrowth(live uint64) (percent int) {
	return min(max(int(cheapGrowth*100/max(live, 1)), leastPercent), mostPercent)
}

// boundHeap has the garbage collector follow what is live, until ctx ends. Whoever has
// set GOGC has decided.
func boundHeap(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	ticker := time.NewTicker(heapLookEvery)
	defer ticker.Stop()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for now := mostPercent; ; {
		metrics.Read(live)
		if want := heapGrowth(live[0].Value.Uint64()); max(want-now, now-want) > slightly {
			debug.SetGCPercent(want) // it stops everything for a moment
			now = want
		}
		select {
		case <-ctx.Done():
			debug.SetGCPercent(mostPercent)
			return
		case <-ticker.C:
		}
	}
}
