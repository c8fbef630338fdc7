package lease

import "time"

// mostDrift is by how much the clocks of the database and of a process may run apart between two looks.
const mostDrift = 3 * time.Second

// there is the clock of the database as a look has read it, after it was asked by a clock of this process.
type there struct {
	asked time.Duration
	now   time.Time
}

// compare tells when the clock of the database was set forward between two looks: leases have ended
// early then, for all. Their epochs keep processes apart in the ledger. A machine that was paused by its
// hypervisor cannot be told from that: its own clock stood still.
func (h *Holder) compare(seen there, told time.Duration) {
	if by := seen.now.Sub(h.there.now) - (told - h.there.asked); !h.there.now.IsZero() && by > mostDrift {
		h.forward += by
		h.latest.Forward = h.forward
		h.Log.Warn("the clock of the database was set forward, or this machine was paused; leases may have ended early", "by", by.Round(time.Second))
	}
	h.there = seen
}
