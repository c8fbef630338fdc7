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
)

// TestUse allocates after Use and asks the kernel whether the pages behind that may be large.
func TestUse(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this kernel has no large pages: ", err)
	}
	hugepages.Use()
	var kept [][]byte
	for range 16 {
		kept = append(kept, make([]byte, 1<<20))
	}
	for _, piece := range kept {
		if slices.Contains(flagsOf(t, uintptr(unsafe.Pointer(unsafe.SliceData(piece)))), "hg") {
			return
		}
	}
	t.Error("no page that was allocated may be large")
}

// flagsOf returns the flags of the mapping that has an address, as proc_pid_smaps(5) names
// them.
func flagsOf(t *testing.T, address uintptr) []string {
	t.Helper()
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
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
