package hugepages_test

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/seawall-dev/seawall/desired/worker/hugepages"
	"github.com/seawall-dev/seawall/integration/must"
)

// TestLargePages allocates, and asks the kernel whether the pages behind that may be large.
func TestLargePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no large pages: ", err)
	}
	if !allocates(t, "hg") {
		t.Error("no page that was allocated may be large")
	}
	hugepages.Stop()
	if allocates(t, "hg") {
		t.Error("a page that was allocated after Stop may be large")
	}
}

// allocates reports whether a part of what it allocates has a flag of flagsOf.
func allocates(t *testing.T, flag string) bool {
	t.Helper()
	var kept [][]byte
	for range 16 {
		kept = append(kept, make([]byte, 1<<20))
	}
	return slices.ContainsFunc(kept, func(piece []byte) bool {
		return slices.Contains(flagsOf(t, uintptr(unsafe.Pointer(unsafe.SliceData(piece)))), flag)
	})
}

// flagsOf returns the flags of the mapping that has an address, as proc_pid_smaps(5) names
// them.
func flagsOf(t *testing.T, address uintptr) []string {
	t.Helper()
	file, err := os.Open("/proc/self/smaps")
	must.Do(t, err)
	defer file.Close()
	inside := false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from <= address && address < to
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags: "); ok && inside {
			return strings.Fields(flags)
		}
	}
	t.Fatalf("no mapping has the address %x", address)
	return nil
}
