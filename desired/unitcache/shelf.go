package unitcache

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/seawall-dev/seawall/desired/compact"
	"github.com/seawall-dev/seawall/desired/compile"
)

// shelf is the folder of kept units. A file is named by its unit's address and
// holds a line and a [kept], as package compact has it:
//
//	seawall unit 2 CHECKSUM     SHA-256 of the address and of all that follows
//
// The checksum tells damage, and files under another's name; it does not keep
// anybody out. The folder's permissions do; see open.go.
type shelf struct{ root *os.Root }

// kept is what a file holds.
type kept struct {
	Looked map[string]string // the fingerprints of the folders that were read
	Unit   compile.Encoded
}

const (
	head     = "seawall unit 2 "
	largest  = 64 << 20 // of one file, in bytes; larger units are evaluated each time
	leftover = "."      // begins the names of files that are being written
)

// load reads a unit, outlined where not all are wanted whole. It is false for one that is not
// there, or not whole.
func (s *shelf) load(address string, o Order) (record, bool) {
	data, used, err := s.read(address)
	if err != nil {
		return record{}, false
	}
	r, ok := parse(address, data, o.Whole == nil)
	if !ok {
		_ = s.root.Remove(address) // it is written anew, and better not read again
		return record{}, false
	}
	if o.Now.Sub(used) > usedAgain {
		_ = s.root.Chtimes(address, o.Now, o.Now)
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

func parse(address string, data []byte, whole bool) (r record, ok bool) {
	first, body, found := bytes.Cut(data, []byte("\n"))
	if !found || string(first) != head+checksum(address, body) {
		return record{}, false
	}
	var k kept
	err := compact.Decode(body, &k)
	if err != nil || len(k.Looked) == 0 {
		return record{}, false
	}
	r = record{looked: k.Looked, size: k.Unit.Size()}
	if whole {
		r.unit, err = k.Unit.Unit()
	} else {
		r.encoded = k.Unit
		r.unit, err = k.Unit.Outlined()
	}
	return r, err == nil
}

func checksum(address string, body []byte) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", address)
	sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil))
}

// store writes a unit, whole or not at all. An error costs an evaluation some
// day, and nothing else.
func (s *shelf) store(address string, looked map[string]string, unit compile.Encoded) {
	body := compact.Encode(kept{looked, unit})
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
