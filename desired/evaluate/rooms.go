package evaluate

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/desired/worker"
)

// rooms are the memory that workers may take: those of the branch, and those of reviews,
// which never keep the branch waiting. The zero value has room for any number.
type rooms struct{ branch, reviews *worker.Room }

// Shares of the memory of workers.
const (
	daemonMemory = 512 << 20 // of the daemon itself, beside all workers
	reviewPart   = 4         // one part in so many is for reviews, at least that of one worker
)

func newRooms(total int64) rooms {
	if total == 0 {
		total = memoryForWorkers(memoryLimit("/proc/self/cgroup", "/sys/fs/cgroup"), machineMemory("/proc/meminfo"))
	}
	if total == 0 {
		return rooms{}
	}
	reviews := max(total/reviewPart, min(reviewBounds.Most(), total/2))
	return rooms{worker.NewRoom(total - reviews), worker.NewRoom(reviews)}
}

// memoryForWorkers is what workers may take within the limit of a unit or container, and on
// a machine, in bytes; zero is not known, of each.
func memoryForWorkers(limit, machine int64) int64 {
	half := machine / 2
	switch {
	case limit == 0 || machine > 0 && limit >= machine:
		return half
	case limit <= 2*daemonMemory:
		return limit / 2
	}
	return limit - daemonMemory
}

// memoryLimit is the lowest of the limits on this process's control group and those above
// it (memory.max of cgroup v2); zero for none.
func memoryLimit(self, root string) int64 {
	text, err := os.ReadFile(self)
	if err != nil {
		return 0 // not Linux, or no /proc
	}
	_, path, ok := strings.Cut(string(text), "0::")
	if !ok {
		return 0
	}
	path, _, _ = strings.Cut(path, "\n")
	lowest := int64(math.MaxInt64)
	for dir := filepath.Join(root, path); strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "memory.max"))
		if err != nil {
			continue // the root has none
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // else it is "max"
			lowest = min(lowest, n)
		}
	}
	if lowest == math.MaxInt64 {
		return 0
	}
	return lowest
}

// machineMemory is that of the machine, in bytes; zero where it is not known.
func machineMemory(meminfo string) int64 {
	text, err := os.ReadFile(meminfo)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "MemTotal:" {
			kib, _ := strconv.ParseInt(fields[1], 10, 64) // zero is not known
			return kib << 10
		}
	}
	return 0
}
