package unitcache

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/seawall-dev/seawall/desired/compact"
)

// shelf is the folder of kept units. A file is named by its unit's address and
// holds two lines and the unit:
//
//	seawall unit 2 CHECKSUM     SHA-256 of the address and of all that follows
//	{"teams/a":"5d2c…",…}       the fingerprints of the folders that were read
//	…                           the unit, as package compact has it
//
// The checksum tells damage, and files under another's name; it does not keep
// anybody out. The folder's permissions do; see open.go.
type shelf struct{ root *os.Root }

const (
	head     = "seawall unit 2 "
	largest  = 64 << 20 // of one file, in bytes; larger units are evaluated each time
	leftover = "."      // begins the names of files that are being written
)

// load reads a unit. It is false for one that is not there, or not whole.
func (s *shelf) load(address string, now time.Time) (record, bool) {
	data, used, err := s.read(address)
	if err != nil {
		return record{}, false
	}
	r, ok := parse(address, data)
	if !ok {
		_ = s.root.Remove(address) // it is written anew, and better not read again
		return record{}, false
	}
	if now.Sub(used) > usedAgain {
		_ = s.root.Chtimes(address, now, now)
	}
	return r, true
}

func (s *shelf) read(address string) (data []byte, used time.Time, err error) {
	info, err := s.root.Lstat(address)
	if err != nil {
		return nil, time.Time{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > largest {
		return nil, time.Time{}, fs.ErrInvalid
	}
	data, err = s.root.ReadFile(address)
	return data, info.ModTime(), err
}

func parse(address string, data []byte) (record, bool) {
	first, body, whole := bytes.Cut(data, []byte("\n"))
	if !whole || string(first) != head+checksum(address, body) {
		return record{}, false
	}
	looked, unit, _ := bytes.Cut(body, []byte("\n"))
	r := record{size: int64(len(unit))}
	if json.Unmarshal(looked, &r.looked) != nil || len(r.looked) == 0 {
		return record{}, false
	}
	return r, compact.Decode(unit, &r.unit) == nil
}

func checksum(address string, body []byte) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", address)
	sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil))
}

// store writes a unit, whole or not at all. An error costs an evaluation some
// day, and nothing else.
func (s *shelf) store(address string, looked map[string]string, unit []byte) {
	prints, err := json.Marshal(looked)
	if err != nil {
		return
	}
	body := append(append(prints, '\n'), unit...)
	data := append([]byte(head+checksum(address, body)+"\n"), body...)
	if len(data) <= largest {
		_ = s.write(address, data)
	}
}

// write replaces a file as atomicwriter does, but inside of an open folder, and without
// waiting for the disk: a file that a power failure cut short is told by its
// checksum.
func (s *shelf) write(address string, data []byte) (err error) {
	name := leftover + address + "-" + rand.Text()
	if err = s.root.WriteFile(name, data, 0o600); err == nil {
		err = s.root.Rename(name, address)
	}
	if err != nil {
		_ = s.root.Remove(name)
	}
	return err
}
