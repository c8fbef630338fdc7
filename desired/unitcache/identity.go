package unitcache

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/seawall-dev/seawall/desired/compile"
)

// identity stands for all that turns files into a unit: the code that reads
// them, the schema, CUE itself, the compiler. All are in the program, so it is
// the program's: more than needed, and nothing to be forgotten. The limits are in
// the program too, but are variables.
func identity() (string, error) {
	program, err := programID()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %+v", program, compile.DefaultLimits), nil
}

// programID is the same for two processes only if they run the same program.
var programID = sync.OnceValues(func() (string, error) {
	// On Linux this is the file that runs, even after another took its name.
	path := "/proc/self/exe"
	if _, err := os.Stat(path); err != nil {
		if path, err = os.Executable(); err != nil {
			return "", err
		}
	}
	if id := buildID(path); id != "" {
		return id, nil
	}
	return contentID(path)
})

// buildID is the id that go build gave a program, which is made of its content.
// It is empty where there is none, or not of go build's making: some builds
// give all their programs the same.
func buildID(path string) string {
	file, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	note := file.Section(".note.go.buildid")
	if note == nil {
		return ""
	}
	data, err := note.Data()
	const header = 16 // lengths, type and name, "Go\0\0"
	if err != nil || len(data) < header {
		return ""
	}
	id := strings.TrimRight(string(data[header:]), "\x00")
	if parts := strings.Split(id, "/"); len(parts) != 4 || len(parts[0]) < 20 || len(parts[3]) < 20 {
		return ""
	}
	return id
}

// contentID reads all of a program, some 100 MB of it at most.
func contentID(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return "sha256 " + hex.EncodeToString(sum.Sum(nil)), nil
}
