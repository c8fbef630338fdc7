package heap

import "testing"

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
