package sim

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// aRequest is a request in its bytes, and what the scanner makes of it.
type aRequest struct{ sent, want string }

var requestGenerator = rapid.Custom(func(t *rapid.T) aRequest {
	body := rapid.SampledFrom([]string{"", "x", "a\r\n\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", strings.Repeat("0\r\n", 50)}).Draw(t, "body")
	end := rapid.SampledFrom([]string{"\r\n", "\n"}).Draw(t, "line end")
	first := "PATCH / HTTP/1.1" + end + "Host: sim" + end
	length := fmt.Sprintf("Content-Length: %d%s", len(body), end)
	const ignored = "Sim-Ignored-"
	coding := "Transfer-Encoding: chunked" + end
	var chunked strings.Builder
	for rest := body; rest != ""; {
		n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
		fmt.Fprintf(&chunked, "%x\r\n%s\r\n", n, rest[:n])
		rest = rest[n:]
	}
	chunked.WriteString("0\r\n" + rapid.SampledFrom([]string{"", "Content-Length: 9\r\n"}).Draw(t, "trailer") + "\r\n")
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return same(first + end)
	case 1:
		return same(first + length + end + body)
	case 2:
		return same(first + coding + end + chunked.String())
	case 3:
		return aRequest{first + length + coding + end + chunked.String(), first + ignored + length + coding + end + chunked.String()}
	default:
		old := strings.Replace(first, "1.1", "1.0", 1)
		return aRequest{old + coding + length + end + body, old + ignored + coding + length + end + body}
	}
})

func same(text string) aRequest { return aRequest{text, text} }

// Law: however the bytes of a connection are cut, each head that has both
// lengths is marked, and nothing else is changed, lost or held back.
func TestLawScanner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent, want, got strings.Builder
		for _, r := range rapid.SliceOfN(requestGenerator, 1, 5).Draw(t, "requests") {
			sent.WriteString(r.sent)
			want.WriteString(r.want)
		}
		var scanner headScanner
		for rest := sent.String(); rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 40)).Draw(t, "cut")
			got.Write(scanner.feed(nil, []byte(rest[:n])))
			rest = rest[n:]
		}
		if got.String() != want.String() {
			t.Fatalf("scanned %q\nwant %q", got.String(), want.String())
		}
		if len(scanner.rest()) > 0 || scanner.part == unread {
			t.Fatalf("at the end: part %d, held back %q", scanner.part, scanner.rest())
		}
	})
}

// Whatever comes, the bytes come through: only marks are added.
func FuzzScanner(f *testing.F) {
	f.Add("GET / HTTP/1.1\r\n\r\n", 3)
	f.Add("PATCH / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nabcde\r\n0\r\n\r\n", 1)
	f.Add("PATCH / HTTP/1.0\nTransfer-Encoding: x\ncontent-length: 99999999999999999999\n\n", 7)
	f.Add("\r\n\r\nPUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", 2)
	f.Fuzz(func(t *testing.T, sent string, cut int) {
		if strings.Contains(sent, ignoredPrefix) {
			return
		}
		var scanner headScanner
		var got []byte
		size := max(1, cut%64)
		for rest := sent; rest != ""; {
			n := min(size, len(rest))
			got = scanner.feed(got, []byte(rest[:n]))
			rest = rest[n:]
		}
		got = append(got, scanner.rest()...)
		if strings.ReplaceAll(string(got), ignoredPrefix, "") != sent {
			t.Fatalf("sent %q, scanned %q", sent, got)
		}
	})
}
