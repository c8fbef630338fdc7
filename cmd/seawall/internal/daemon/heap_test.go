package daemon

import "testing"

func TestHeapGrowth(t *testing.T) {
	for live, want := range map[uint64]int{
		0: mostPercent, 10 << 20: mostPercent, cheapGrowth: mostPercent, 2 * cheapGrowth: 50, 100 * cheapGrowth: leastPercent, 1 << 62: leastPercent,
	} {
		if got := heapGrowth(live); got != want {
			t.Errorf("%d bytes live: %d %%, want %d", live, got, want)
		}
	}
}
