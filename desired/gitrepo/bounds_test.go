package gitrepo_test

import (
	"encoding/binary"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
)

const madeCommit = "0123456789012345678901234567890123456789"

// servePack serves one pack, as that of main and of pull request 1.
func servePack(t *testing.T, pack []byte, commit string) *gittest.PackServer {
	t.Helper()
	u := gittest.New(t)
	u.Commit("a.cue", "a: 1\n")
	u.Git("branch", "-m", "other")
	return u.HTTPBeside(gittest.Served{Ref: "refs/heads/main", Commit: commit, Pack: pack}, gittest.Served{Ref: "refs/pull/1/head", Commit: commit, Pack: pack})
}

// A few bytes that stand for many are refused for what they stand for, and cost
// no more than they are.
func TestFetchRefusesBombs(t *testing.T) {
	t.Parallel()
	const most = gittest.MaxCopy
	zeros := make([]byte, most)
	liar := func() *gittest.Pack { // says less than it is
		p := new(gittest.Pack)
		p.Object(gittest.PackBlob, 10, nil, zeros)
		return p
	}
	declared := func() *gittest.Pack { // says more than anything can be
		p := new(gittest.Pack)
		p.Object(gittest.PackBlob, 1<<40, nil, nil)
		return p
	}
	countless := func() *gittest.Pack {
		p := new(gittest.Pack)
		p.Blob(nil)
		p.Objects = 1 << 31
		return p
	}
	for _, test := range []struct {
		name        string
		pack        *gittest.Pack
		kind        gitrepo.Kind
		main, pulls string
	}{
		{"huge difference", gittest.HugeDelta(), gitrepo.ErrTooLarge, "it has an object of 3.5 GiB, over the limit of 256 MiB", "over the limit of 128 MiB"},
		{"many objects", gittest.ManyLarge(), gitrepo.ErrTooLarge, "the unpacked data is larger than the limit of 16 GiB", "the unpacked data is larger than the limit of 1 GiB"},
		{"declared size", declared(), gitrepo.ErrTooLarge, "it has an object of 1024 GiB, over the limit of 256 MiB", "over the limit of 128 MiB"},
		{"countless", countless(), gitrepo.ErrTooLarge, "it has 2147483648 objects, more than the limit of 4194304", "more than the limit of 1000000"},
		{"wrong size", liar(), gitrepo.ErrFetch, "exceeds declared size", "exceeds declared size"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pack := test.pack.Done()
			if len(pack) > 300<<10 {
				t.Fatalf("a pack of %d bytes", len(pack))
			}
			source := gitrepo.Source{URL: servePack(t, pack, madeCommit).URL, Ref: "refs/heads/main"}
			before := allocated()
			r, dir := storeOf(t)
			for range 2 {
				_, err := r.Fetch(t.Context(), source)
				wantError(t, err, test.kind, test.main)
				wantError(t, err, test.kind, "fetching refs/heads/main of http://127.0.0.1")
			}
			p, _ := openPulls(t)
			source.Limits = gitrepo.FetchLimits{ObjectBytes: 128 << 20, UnpackedBytes: 1 << 30, Objects: 1_000_000}
			_, err := p.Fetch(t.Context(), source, gitrepo.Pull{Number: 1, Ref: "refs/pull/1/head", Commit: madeCommit})
			wantError(t, err, test.kind, test.pulls)
			// The tests beside it allocate, too; what the packs stand for is gigabytes.
			if used := allocated() - before; used > 256<<20 {
				t.Errorf("it took %d MiB of memory", used>>20)
			}
			if n := packs(t, dir); n != 0 {
				t.Errorf("%d packs are kept", n)
			}
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestLargestPack is for the measurement behind the bound of one object: run it
// with MEASURE=16 (times 16 MiB) under a worker's bounds.
func TestLargestPack(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("for measurements")
	}
	const most = gittest.MaxCopy
	times, _ := strconv.Atoi(os.Getenv("MEASURE")) // 16 MiB each
	p := new(gittest.Pack)
	last := p.Repeat(p.Blob(make([]byte, most)), most, times)
	for range 4 {
		delta := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(times*most)), uint64(times*most))
		for i := range times {
			at := uint32(i * most)
			delta = append(delta, 0xff, byte(at), byte(at>>8), byte(at>>16), byte(at>>24), 0xff, 0xff, 0xff)
		}
		last = p.Difference(last, delta)
	}
	_, err := open(t).Fetch(t.Context(), gitrepo.Source{URL: servePack(t, p.Done(), madeCommit).URL, Ref: "refs/heads/main"})
	t.Log(err)
}
