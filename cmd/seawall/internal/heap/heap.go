// Package heap has the garbage collector of this process follow how much is live. Go lets the
// heap grow to twice of what is live before it collects: for a large fleet, the half of that
// would be hundreds of MiB. So the heap grows by as much as is cheap, and by a part of what is
// live that keeps collections rare.
package heap

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// By how many percent of the bytes that are live the heap may grow at most: that of a process
// that stays, which is Go's default, and that of a command, which ends before many collections
// would pay.
const (
	ToStay = 100
	ToEnd  = 200
)

const (
	cheapGrowth  = 48 << 20 // bytes
	leastPercent = 40
	slightly     = 5 // percent that are not worth a change
)

// growth is by how many percent of the bytes that are live the heap may grow.
func growth(live uint64, most int) (percent int) {
	return min(max(int(cheapGrowth*100/max(live, 1)), leastPercent), most)
}

// Follow has the garbage collector follow what is live, until ctx ends. Whoever has set GOGC
// has decided.
func Follow(ctx context.Context, most int) {
	if os.Getenv("GOGC") == "" {
		(&follower{ctx: ctx, most: most, now: ToStay}).look()
	}
}

// follower looks after each collection: by what was live a second ago, a heap that grows fast
// could grow by several times of what is cheap.
type follower struct {
	ctx  context.Context //nolint:containedctx // it is called by the runtime
	most int
	now  int // percent
}

func (f *follower) look() {
	if f.ctx.Err() != nil {
		debug.SetGCPercent(ToStay)
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if want := growth(live[0].Value.Uint64(), f.most); max(want-f.now, f.now-want) > slightly {
		debug.SetGCPercent(want) // it stops everything for a moment
		f.now = want
	}
	runtime.AddCleanup(&collected{}, (*follower).look, f)
}

// collected is garbage of which the runtime tells that it was collected. It has a pointer, so
// that it shares its place with nothing.
type collected struct{ _ *collected }
