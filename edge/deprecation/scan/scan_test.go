package scan

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// scanned is what a text yields, each call as "LINE METHOD URL [BODY] [@ADDRESS]".
func scanned(t *testing.T, name, text string, o Options) ([]string, Stats) {
	t.Helper()
	calls, stats, err := scanAll(strings.NewReader(text), name, o)
	if err != nil {
		t.Fatalf("scanning %s: %v", name, err)
	}
	return calls, stats
}

func scanAll(r io.Reader, name string, o Options) ([]string, Stats, error) {
	var calls []string
	stats, err := Reader(r, name, o, func(c Call) error {
		text := fmt.Sprintf("%d %s %s", c.Line, c.Method, c.URL)
		if c.Body != nil {
			text += " " + string(c.Body)
		}
		if c.Address != "" {
			text += " @" + c.Address
		}
		calls = append(calls, text)
		return nil
	})
	return calls, stats, err
}

// sample is one input of a table: format, calls and how many places were skipped.
type sample struct {
	name, text string
	format     Format
	want       []string
	skipped    int
}

func runSamples(t *testing.T, samples []sample) {
	t.Helper()
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			got, stats := scanned(t, s.name, s.text, Options{})
			if stats.Format != s.format {
				t.Errorf("recognised as %q, want %q", stats.Format, s.format)
			}
			if diff := cmp.Diff(s.want, got); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if stats.Skipped != s.skipped || stats.Calls != len(got) {
				t.Errorf("stats say %+v; want %d skipped and %d calls", stats, s.skipped, len(got))
			}
			// Whatever the reader's habits, the calls are the same.
			slow, _, err := scanAll(iotest.OneByteReader(strings.NewReader(s.text)), s.name, Options{})
			if err != nil || cmp.Diff(got, slow) != "" {
				t.Errorf("read byte by byte: %v, %v", slow, err)
			}
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			_, _ = io.WriteString(w, s.text)
			_ = w.Close()
			if unpacked, _, err := scanAll(&packed, s.name+".gz", Options{Format: s.format}); err != nil || cmp.Diff(got, unpacked) != "" {
				t.Errorf("packed by gzip, the format given: %v, %v", unpacked, err)
			}
		})
	}
}

func TestUnrecognised(t *testing.T) {
	for name, text := range map[string]string{
		"prose":          "Dear team,\n\nplease stop calling that endpoint.\n",
		"json":           `{"name":"seawall","license":"Apache-2.0"}`,
		"an array":       `[1, 2, 3]`,
		"yaml":           "name: seawall\non: push\n",
		"binary":         "\x7fELF\x02\x01\x01\x00\x00\x00",
		"a long json":    `{"components":{"x":"` + strings.Repeat("y", headSize) + `"},"name":"z"}`,
		"only brackets":  "{}",
		"broken in gzip": "\x1f\x8bnot really",
		"zstd":           "\x28\xb5\x2f\xfd\x00\x00\x00",
		"zip":            "PK\x03\x04\x00\x00\x00",
	} {
		calls, stats, err := scanAll(strings.NewReader(text), name, Options{})
		if err == nil {
			t.Errorf("%s is taken for %q with %d calls", name, stats.Format, len(calls))
			continue
		}
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the error does not name it: %v", name, err)
		}
	}
	_, _, err := scanAll(strings.NewReader("Dear team,"), "letter", Options{})
	if !errors.Is(err, ErrUnrecognised) || !strings.Contains(err.Error(), "access-log") {
		t.Errorf("the error does not say what was tried: %v", err)
	}
}

func TestEmptyInput(t *testing.T) {
	for _, text := range []string{"", "\n \n", "\xef\xbb\xbf"} {
		if _, stats, err := scanAll(strings.NewReader(text), "-", Options{}); err != nil || stats.Format != Empty {
			t.Errorf("%q is %q, %v", text, stats.Format, err)
		}
	}
}

// PowerShell writes scripts in UTF-16.
func TestUTF16(t *testing.T) {
	for mark, order := range map[string]binary.AppendByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian} {
		text := []byte(mark)
		for _, unit := range utf16.Encode([]rune("# 𝄞\nGET /zones/1/filters\n")) {
			text = order.AppendUint16(text, unit)
		}
		if got, _ := scanned(t, "x", string(text), Options{}); cmp.Diff([]string{"2 GET /zones/1/filters"}, got) != "" {
			t.Errorf("%q: %q", mark, got)
		}
	}
}

func TestForcedFormat(t *testing.T) {
	text := "GET /zones/1/filters\n"
	if _, _, err := scanAll(strings.NewReader(text), "x", Options{Format: AccessLog}); !errors.Is(err, ErrUnrecognised) {
		t.Errorf("plain lines pass for an access log: %v", err)
	}
	if _, _, err := scanAll(strings.NewReader(text), "x", Options{Format: "xml"}); err == nil || !strings.Contains(err.Error(), "xml") {
		t.Errorf("a format that does not exist is accepted: %v", err)
	}
	for _, f := range []Format{HAR, OpenAPI, Terraform} {
		if _, _, err := scanAll(strings.NewReader(text), "x", Options{Format: f}); err == nil {
			t.Errorf("plain lines pass for %s", f)
		}
	}
	for _, f := range Formats {
		if got, err := ParseFormat(string(f)); got != f || err != nil {
			t.Errorf("%q is %q, %v", f, got, err)
		}
		if readerOf(f, "x") == nil {
			t.Errorf("nothing reads %q", f)
		}
	}
	if _, err := ParseFormat("HAR!"); err == nil {
		t.Error("a name of no format is accepted")
	}
}

func TestYieldStops(t *testing.T) {
	stop := errors.New("stop")
	for name, text := range corpus {
		calls := 0
		_, err := Reader(strings.NewReader(text), name, Options{}, func(Call) error {
			calls++
			return stop
		})
		if err != stop || calls != 1 {
			t.Errorf("%s: %d calls were handed on, then %v", name, calls, err)
		}
	}
}

func TestKeepRejects(t *testing.T) {
	for name, text := range corpus {
		var asked []string
		calls, stats, err := scanAll(strings.NewReader(text), name, Options{Keep: func(target []byte) bool {
			asked = append(asked, string(target))
			return false
		}})
		if err != nil || len(calls) > 0 || stats.Calls > 0 || len(asked) == 0 {
			t.Errorf("%s: %d calls, %v; asked about %q", name, len(calls), err, asked)
		}
		all, _ := scanned(t, name, text, Options{})
		some, _ := scanned(t, name, text, Options{Keep: func(target []byte) bool { return bytes.Contains(target, []byte("/filters")) }})
		var want []string
		for _, c := range all {
			if strings.Contains(c, "/filters") {
				want = append(want, c)
			}
		}
		if diff := cmp.Diff(want, some); diff != "" || len(some) == 0 {
			t.Errorf("%s: Keep changes more than what is kept (-want +got):\n%s", name, diff)
		}
	}
}

// A failing input is never taken for a short one.
func TestBrokenInput(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for name, text := range corpus {
		_, _, err := scanAll(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), name, Options{})
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, strings.Repeat(corpus["access"], 1000))
	_ = w.Close()
	if _, _, err := scanAll(bytes.NewReader(packed.Bytes()[:packed.Len()-20]), "cut.gz", Options{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut gzip file: %v", err)
	}
	for _, name := range []string{"har", "openapi.json", "tfplan"} {
		text := strings.TrimSpace(corpus[name])
		for n := 1; n < len(text); n++ {
			if _, _, err := scanAll(strings.NewReader(text[:n]), name, Options{}); err == nil {
				t.Errorf("%s cut short at %d passes for whole", name, n)
			}
		}
	}
}

// Nothing secret leaves, in no format.
func TestSecretsStay(t *testing.T) {
	const secret = "hunter2secret"
	for name, text := range map[string]string{
		"curl":   `curl -u me:` + secret + ` -H "Authorization: Bearer ` + secret + `" -H 'X-Auth-Key: ` + secret + `' -b s=` + secret + ` https://me:` + secret + `@api.example.com/zones/1/filters`,
		"wget":   `wget --password ` + secret + ` --header "Cookie: ` + secret + `" https://me:` + secret + `@api.example.com/zones/1/filters`,
		"httpie": `http -a me:` + secret + ` https://api.example.com/zones/1/filters X-Api-Token:` + secret,
		"bare":   `curl me:` + secret + `@api.example.com/zones/1/filters`,
		"double": `curl //me:` + secret + `@api.example.com/zones/1/filters`,
		"proxy":  `- - - [x] "GET /https://me:` + secret + `@api.example.com/zones/1/filters HTTP/1.1" 200 1`,
		"upper":  `GET HTTPS://me:` + secret + `@api.example.com/zones/1/filters`,
		"plain":  `GET https://me:` + secret + `@api.example.com/zones/1/filters`,
		"har":    `{"log":{"entries":[{"request":{"method":"GET","url":"https://me:` + secret + `@a.example/zones/1/filters","headers":[{"name":"authorization","value":"` + secret + `"}]}}]}}`,
		"access": `- - - [x] "GET http://me:` + secret + `@a.example/zones/1/filters HTTP/1.1" 200 1`,
		"state":  `{"version":4,"terraform_version":"1.9.0","resources":[{"mode":"managed","type":"cloudflare_filter","name":"f","instances":[{"attributes":{"zone_id":"z","id":"i","password":"` + secret + `"}}]}]}`,
	} {
		calls := 0
		stats, err := Reader(strings.NewReader(text), name, Options{}, func(c Call) error {
			calls++
			if strings.Contains(fmt.Sprintf("%+v", c), secret) {
				t.Errorf("%s hands it on: %+v", name, c)
			}
			return nil
		})
		if err != nil || calls != 1 || strings.Contains(fmt.Sprint(stats), secret) {
			t.Errorf("%s: %d calls, %+v, %v", name, calls, stats, err)
		}
	}
}
