package evaluate

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What workers may take together, with the daemon, fits the limit of the unit.
func TestWorkersFitTheUnit(t *testing.T) {
	const gib = 1 << 30
	for _, test := range []struct {
		limit, machine, want int64 // GiB, in quarters
	}{
		{24, 96, 22}, {24, 16, 8}, {0, 32, 16}, {0, 0, 0}, {4, 96, 2}, {6, 96, 4}, {96, 96, 48},
	} {
		const quarter = gib / 4
		if got := memoryForWorkers(test.limit*quarter, test.machine*quarter); got != test.want*quarter {
			t.Errorf("limit %d/4 GiB, machine %d/4 GiB: %d MiB for workers, want %d", test.limit, test.machine, got>>20, test.want*256)
		}
	}
	for limit, workers := range map[int64]int{2 * gib: 1, 4 * gib: 1, 6 * gib: 3, 12 * gib: 6} {
		total := memoryForWorkers(limit, 64*gib)
		r := newRooms(total)
		n, m := r.branch.Workers(evaluationBounds), r.reviews.Workers(reviewBounds)
		if n != workers || m < 1 {
			t.Errorf("%d GiB: %d workers for the branch, want %d, and %d for reviews", limit>>30, n, workers, m)
		}
		most := max(int64(n)*evaluationBounds.Most(), min(FetchLimits(time.Minute).Most(), total)) + int64(m)*reviewBounds.Most()
		if limit >= 6*gib && most+daemonMemory > limit {
			t.Errorf("%d GiB: workers may take %d MiB", limit>>30, most>>20)
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	self := write("self", "1:name=systemd:/x\n0::/system.slice/seawall.service\n")
	if got := memoryLimit(self, root); got != 0 {
		t.Errorf("without a limit: %d", got)
	}
	write("system.slice/seawall.service/memory.max", "max\n")
	write("system.slice/memory.max", fmt.Sprintln(6<<30))
	if got := memoryLimit(self, root); got != 6<<30 {
		t.Errorf("with one above: %d", got)
	}
	write("system.slice/seawall.service/memory.max", fmt.Sprintln(4<<30))
	if got := memoryLimit(self, root); got != 4<<30 {
		t.Errorf("with two: %d", got)
	}
	if got := memoryLimit(filepath.Join(root, "nowhere"), root); got != 0 {
		t.Errorf("without /proc: %d", got)
	}
	if got := machineMemory(write("meminfo", "MemTotal:       24623148 kB\nMemFree: 1 kB\n")); got != 24623148<<10 {
		t.Errorf("the machine has %d bytes", got)
	}
}
