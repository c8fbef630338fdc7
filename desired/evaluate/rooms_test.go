package evaluate

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
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

// The memory that docs/configuration.md names is what workers may take.
func TestMemoryAsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	must.Do(t, err)
	gib := func(n int64) string { return strconv.FormatFloat(float64(n)/(1<<30), 'f', -1, 64) + " GiB" }
	want := fmt.Sprintf("%s for evaluation and for pull requests, %s for a fetch of the branch", gib(evaluationBounds.Most()), gib(FetchLimits(time.Minute).Most()))
	if !bytes.Contains(page, []byte(want)) || evaluationBounds.Most() != reviewBounds.Most() {
		t.Errorf("docs/configuration.md does not say %q", want)
	}
	if want := fmt.Sprintf("less %d MiB for the daemon itself", daemonMemory>>20); !bytes.Contains(page, []byte(want)) {
		t.Errorf("docs/configuration.md does not say %q", want)
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+) GiB[^|]*\| (\d+)[^|]*\| (\d+) \|$`).FindAllSubmatch(page, -1)
	if len(rows) < 3 {
		t.Fatalf("docs/configuration.md has %d rows of memory limits", len(rows))
	}
	for _, row := range rows {
		limit, _ := strconv.ParseInt(string(row[1]), 10, 64) // digits
		r := newRooms(memoryForWorkers(limit<<30, 64<<30))
		if branch, reviews := r.branch.Workers(evaluationBounds), r.reviews.Workers(reviewBounds); fmt.Sprint(branch, reviews) != fmt.Sprintf("%s %s", row[2], row[3]) {
			t.Errorf("%s: there is room for %d workers and %d of reviews", row[0], branch, reviews)
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(root, name)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
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
