package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Pack is a pack that no git would write, made object by object. The zero Pack has none.
type Pack struct {
	bytes.Buffer
	Objects uint32 // as the pack claims
}

// The kinds of objects in a pack (gitformat-pack(5)).
const (
	PackCommit   = 1
	PackBlob     = 3
	packOfsDelta = 6
)

// Object appends an object that says it is so long, and returns where it is.
// Between its header and its content stand further bytes of the header.
func (p *Pack) Object(kind byte, length int, header, content []byte) (offset int) {
	if p.Len() == 0 {
		p.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x00")
	}
	p.Objects++
	offset = p.Len()
	first := kind<<4 | byte(length&0xf)
	for length >>= 4; length > 0; length >>= 7 {
		p.WriteByte(first | 0x80)
		first = byte(length & 0x7f)
	}
	p.WriteByte(first)
	p.Write(header)
	z := zlib.NewWriter(p)
	_, _ = z.Write(content) // to memory
	_ = z.Close()
	return offset
}

// Blob appends a file.
func (p *Pack) Blob(content []byte) int { return p.Object(PackBlob, len(content), nil, content) }

// MaxCopy is the largest piece that a difference copies at once.
const MaxCopy = 1<<24 - 1

// Repeat appends a difference that repeats an object of so many bytes, at most [MaxCopy],
// so often.
func (p *Pack) Repeat(base, size, times int) int {
	delta := binary.AppendUvarint(nil, uint64(size))
	delta = binary.AppendUvarint(delta, uint64(size*times))
	for range times {
		delta = append(delta, 0x80|0x70, byte(size), byte(size>>8), byte(size>>16))
	}
	return p.Difference(base, delta)
}

// Difference appends a difference to the object at an offset.
func (p *Pack) Difference(base int, delta []byte) int {
	back := p.Len() - base
	header := []byte{byte(back & 0x7f)}
	for back >>= 7; back > 0; back >>= 7 {
		back--
		header = append([]byte{0x80 | byte(back&0x7f)}, header...)
	}
	return p.Object(packOfsDelta, len(delta), header, delta)
}

// Done is the pack with its header and checksum.
func (p *Pack) Done() []byte {
	pack := bytes.Clone(p.Bytes())
	binary.BigEndian.PutUint32(pack[8:], p.Objects)
	sum := sha1.Sum(pack)
	return append(pack, sum[:]...)
}

// HugeDelta is a pack of 16 KB with one object of 3.5 GB.
func HugeDelta() *Pack {
	p := new(Pack)
	p.Repeat(p.Blob(make([]byte, MaxCopy)), MaxCopy, 224)
	return p
}

// ManyLarge is a pack of 246 KB with 3,000 objects of 99 MB.
func ManyLarge() *Pack {
	p := new(Pack)
	base := p.Blob(make([]byte, MaxCopy))
	for range 3000 {
		p.Repeat(base, MaxCopy, 6)
	}
	return p
}

// Served is a pack that a server sends for a ref.
type Served struct {
	Ref    string
	Commit string // that the ref stands for, 40 hexadecimal digits
	Pack   []byte
	// Pause is between one byte and the next; zero sends the pack at once.
	Pause time.Duration
}

// PackServer serves the refs of a repository, and packs that were made by hand under others.
type PackServer struct {
	URL string

	mu   sync.Mutex
	sent map[string]int
}

// Sent is how often the pack of a ref was sent.
func (s *PackServer) Sent(ref string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent[ref]
}

// HTTPBeside serves the repository over HTTP, with packs beside it.
func (r *Repository) HTTPBeside(packs ...Served) *PackServer {
	r.t.Helper()
	s := &PackServer{sent: map[string]int{}}
	real := r.handler("", "")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/info/refs") {
			advertise(w, req, real, packs)
			return
		}
		order, err := io.ReadAll(req.Body)
		if err != nil {
			return // the client went
		}
		for _, p := range packs {
			if bytes.Contains(order, []byte("want "+p.Commit)) {
				s.mu.Lock()
				s.sent[p.Ref]++
				s.mu.Unlock()
				p.send(w, bytes.Contains(order, []byte("deepen")))
				return
			}
		}
		req.Body = io.NopCloser(bytes.NewReader(order))
		real.ServeHTTP(w, req)
	}))
	r.t.Cleanup(server.Close)
	s.URL = server.URL + "/" + filepath.Base(r.Dir)
	return s
}

// advertise puts the refs of packs at the end of those that the repository has.
func advertise(w http.ResponseWriter, req *http.Request, real http.Handler, packs []Served) {
	answer := httptest.NewRecorder()
	real.ServeHTTP(answer, req)
	text := strings.TrimSuffix(answer.Body.String(), "0000")
	for _, p := range packs {
		text += pktLine(p.Commit + " " + p.Ref + "\n")
	}
	w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
	w.WriteHeader(answer.Code)
	_, _ = io.WriteString(w, text+"0000") // the client may have gone
}

func (p Served) send(w http.ResponseWriter, shallow bool) {
	w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
	if shallow {
		fmt.Fprint(w, pktLine("shallow "+p.Commit), "0000")
	}
	fmt.Fprint(w, pktLine("NAK\n"))
	for len(p.Pack) > 0 {
		const piece = 10_000 // a pkt-line holds at most 65,516 bytes
		n := min(len(p.Pack), piece)
		if p.Pause > 0 {
			n = 1
			time.Sleep(p.Pause)
		}
		if _, err := fmt.Fprint(w, pktLine("\x01"+string(p.Pack[:n]))); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		p.Pack = p.Pack[n:]
	}
	fmt.Fprint(w, "0000")
}

func pktLine(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }
