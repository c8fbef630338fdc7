package gitrepo_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo"
)

// madePack is a pack that no git would write, made object by object.
type madePack struct {
	bytes.Buffer
	objects uint32
}

const (
	packBlob     = 3
	packOfsDelta = 6
)

// object appends an object that says it is so long, and returns where it is.
// Between its header and its content stand further bytes of the header.
func (p *madePack) object(kind byte, length int, header, content []byte) (offset int) {
	if p.Len() == 0 {
		p.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x00")
	}
	p.objects++
	offset = p.Len()
	first := kind<<4 | byte(length&0xf)
	for length >>= 4; length > 0; length >>= 7 {
		p.WriteByte(first | 0x80)
		first = byte(length & 0x7f)
	}
	p.WriteByte(first)
	p.Write(header)
	z := zlib.NewWriter(p)
	_, _ = z.Write(content)
	z.Close()
	return offset
}

func (p *madePack) blob(content []byte) int { return p.object(packBlob, len(content), nil, content) }

// repeat appends a difference that repeats an object of so many bytes so often.
func (p *madePack) repeat(base, size, times int) int {
	delta := binary.AppendUvarint(nil, uint64(size))
	delta = binary.AppendUvarint(delta, uint64(size*times))
	for range times {
		delta = append(delta, 0x80|0x70, byte(size), byte(size>>8), byte(size>>16))
	}
	return p.difference(base, delta)
}

// difference appends a difference to the object at an offset.
func (p *madePack) difference(base int, delta []byte) int {
	back := p.Len() - base
	header := []byte{byte(back & 0x7f)}
	for back >>= 7; back > 0; back >>= 7 {
		back--
		header = append([]byte{0x80 | byte(back&0x7f)}, header...)
	}
	return p.object(packOfsDelta, len(delta), header, delta)
}

func (p *madePack) done() []byte {
	pack := bytes.Clone(p.Bytes())
	binary.BigEndian.PutUint32(pack[8:], p.objects)
	sum := sha1.Sum(pack)
	return append(pack, sum[:]...)
}

const madeCommit = "0123456789012345678901234567890123456789"

// servePack serves one pack, as that of main and of pull request 1, and counts
// how often it was sent.
func servePack(t *testing.T, pack []byte) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			fmt.Fprint(w, pktLine("# service=git-upload-pack\n"), "0000",
				pktLine(madeCommit+" refs/heads/main\x00ofs-delta shallow\n"), pktLine(madeCommit+" refs/pull/1/head\n"), "0000")
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		body := new(bytes.Buffer)
		_, _ = body.ReadFrom(r.Body)
		if strings.Contains(body.String(), "deepen") {
			fmt.Fprint(w, pktLine("shallow "+madeCommit), "0000")
		}
		fmt.Fprint(w, pktLine("NAK\n"))
		_, _ = w.Write(pack)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/edge.git"
}

func pktLine(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

// A few bytes that stand for many are refused for what they stand for, and cost
// no more than they are.
func TestFetchRefusesBombs(t *testing.T) {
	const most = 1<<24 - 1 // one difference's largest copy
	zeros := make([]byte, most)
	huge := func() *madePack {
		p := new(madePack)
		p.repeat(p.blob(zeros), most, 224) // 3.5 GiB
		return p
	}
	many := func() *madePack {
		p := new(madePack)
		base := p.blob(zeros)
		for range 3000 {
			p.repeat(base, most, 6) // 96 MiB
		}
		return p
	}
	liar := func() *madePack { // says less than it is
		p := new(madePack)
		p.object(packBlob, 10, nil, zeros)
		return p
	}
	declared := func() *madePack { // says more than anything can be
		p := new(madePack)
		p.object(packBlob, 1<<40, nil, nil)
		return p
	}
	countless := func() *madePack {
		p := new(madePack)
		p.blob(nil)
		p.objects = 1 << 31
		return p
	}
	for _, test := range []struct {
		name        string
		pack        *madePack
		kind        gitrepo.Kind
		main, pulls string
	}{
		{"huge difference", huge(), gitrepo.ErrTooLarge, "it has an object of 3.5 GiB, over the limit of 256 MiB", "over the limit of 128 MiB"},
		{"many objects", many(), gitrepo.ErrTooLarge, "the unpacked data is larger than the limit of 16 GiB", "the unpacked data is larger than the limit of 1 GiB"},
		{"declared size", declared(), gitrepo.ErrTooLarge, "it has an object of 1024 GiB, over the limit of 256 MiB", "over the limit of 128 MiB"},
		{"countless", countless(), gitrepo.ErrTooLarge, "it has 2147483648 objects, more than the limit of 4194304", "more than the limit of 1000000"},
		{"wrong size", liar(), gitrepo.ErrFetch, "exceeds declared size", "exceeds declared size"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pack := test.pack.done()
			if len(pack) > 300<<10 {
				t.Fatalf("a pack of %d bytes", len(pack))
			}
			source := gitrepo.Source{URL: servePack(t, pack), Ref: "refs/heads/main"}
			before := allocated()
			r, dir := storeOf(t)
			for range 2 {
				_, err := r.Fetch(t.Context(), source)
				wantError(t, err, test.kind, test.main)
				wantError(t, err, test.kind, "fetching refs/heads/main of http://127.0.0.1")
			}
			p, _ := openPulls(t)
			_, failed, err := p.Fetch(t.Context(), source, []gitrepo.Pull{{Number: 1, Ref: "refs/pull/1/head", Commit: madeCommit}}, gitrepo.PullLimits{})
			if err != nil || len(failed) != 1 {
				t.Fatalf("failed %v, %v", failed, err)
			}
			wantError(t, failed[0].Err, test.kind, test.pulls)
			if used := allocated() - before; used > 64<<20 {
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
	const most = 1<<24 - 1
	times, _ := strconv.Atoi(os.Getenv("MEASURE")) // 16 MiB each
	p := new(madePack)
	last := p.repeat(p.blob(make([]byte, most)), most, times)
	for range 4 {
		delta := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(times*most)), uint64(times*most))
		for i := range times {
			at := uint32(i * most)
			delta = append(delta, 0xff, byte(at), byte(at>>8), byte(at>>16), byte(at>>24), 0xff, 0xff, 0xff)
		}
		last = p.difference(last, delta)
	}
	_, err := open(t).Fetch(t.Context(), gitrepo.Source{URL: servePack(t, p.done()), Ref: "refs/heads/main"})
	t.Log(err)
}
