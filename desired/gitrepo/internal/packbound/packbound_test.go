package packbound

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
)

// kept is where a pack is written.
type kept struct {
	bytes.Buffer
	closed bool
}

func (k *kept) Close() error { k.closed = true; return nil }

// FuzzPack: whatever is sent, in pieces of any length, the writer ends; it hands on no byte
// beyond the limit, and closes what is below it. What it accepts it has handed on whole.
func FuzzPack(f *testing.F) {
	small := new(gittest.Pack)
	small.Difference(small.Object(gittest.PackCommit, 7, nil, []byte("commit\n")), []byte{7, 4, 4, 'a', 'b', 'c', 'd'})
	f.Add(small.Done(), 7)
	f.Add(gittest.HugeDelta().Done(), 1000)
	f.Add([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"), 1)
	f.Add([]byte{}, 3)
	limits := Limits{PackBytes: 1 << 20, Objects: 1000, ObjectBytes: 1 << 16, InflatedBytes: 1 << 18, DiskBytes: 1 << 19}
	f.Fuzz(func(t *testing.T, pack []byte, piece int) {
		piece = max(1, piece%4096)
		to := &kept{}
		w := NewWriter(to, limits, &Tip{plumbing.ComputeHash(plumbing.CommitObject, []byte("abcd")), func([]byte) error { return errRefused }})
		var err error
		for rest := pack; len(rest) > 0 && err == nil; rest = rest[min(piece, len(rest)):] {
			_, err = w.Write(rest[:min(piece, len(rest))])
		}
		err = errors.Join(err, w.Close())
		if !to.closed {
			t.Error("what is below was not closed")
		}
		if to.Len() > 1<<20+trailer {
			t.Errorf("%d bytes were handed on", to.Len())
		}
		if err == nil && !bytes.Equal(to.Bytes(), pack) {
			t.Errorf("accepted %x, handed on %x", pack, to.Bytes())
		}
		if scan(io.NopCloser(bytes.NewReader(pack)), limits, newFinder(nil)) != nil && len(pack) > 0 && err == nil {
			t.Error("a pack over a limit was accepted")
		}
	})
}

var errRefused = errors.New("refused")
