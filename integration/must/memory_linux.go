package must

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// memory is where Linux has files that are in memory alone, and memoryRoom how much has to
// be free there, in bytes.
const (
	memory     = "/dev/shm"
	memoryRoom = 1 << 30
)

// noExecution is the flag of a file system whose files cannot be run (statfs(2)), as a
// container may have it.
const noExecution = 8

// InMemory keeps the temporary files of a test binary in memory, if there is room and programs
// can be run there: who makes thousands of files would mostly wait for the disk. What a process
// has written is there after it was killed, as on a disk. It is for TestMain, before all else.
func InMemory() (remove func()) {
	nothing := func() {}
	var free syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &free) != nil ||
		free.Bavail*uint64(free.Bsize) < memoryRoom || free.Flags&noExecution != 0 {
		return nothing
	}
	removeLeft()
	dir := filepath.Join(memory, ofProcess+strconv.Itoa(os.Getpid()))                                  // short, as the path of a socket must be
	if os.Mkdir(dir, 0o755) != nil || os.Chmod(dir, 0o755) != nil || os.Setenv("TMPDIR", dir) != nil { // for tests with another user
		return nothing
	}
	return func() { _ = os.RemoveAll(dir) }
}

// ofProcess is how the name of a folder begins, before the process that it is of.
const ofProcess = "sw"

// removeLeft removes the folders of processes that are gone: one that was killed or has panicked has not
// removed its own.
func removeLeft() {
	dirs, _ := filepath.Glob(filepath.Join(memory, ofProcess+"*"))
	for _, dir := range dirs {
		process, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), ofProcess))
		if err == nil && (process == os.Getpid() || errors.Is(syscall.Kill(process, 0), syscall.ESRCH)) {
			_ = os.RemoveAll(dir)
		}
	}
}
