package document

import (
	"net/http"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// Requests reads a file of a REST client (.http, .rest): requests between lines
// ###, each with its address, headers, an empty line and the body.
func Requests(body []byte, out *call.Sink) error {
	requests(string(body), 1, true, out)
	return nil
}

// requests reads the text of such a file that begins at a line.
func requests(text string, line int, exact bool, out *call.Sink) {
	f := &requestFile{walker: walker{out: out, vars: map[string]string{}}}
	offset, block := 0, httpBlock{line: line}
	for one := range strings.SplitAfterSeq(text, "\n") {
		if strings.HasPrefix(one, "###") {
			f.block(block, exact)
			block = httpBlock{line: line + 1, from: offset + len(one)}
		} else {
			block.lines = append(block.lines, one)
		}
		offset += len(one)
		line++
	}
	f.block(block, exact)
}

// requestFile is such a file as it is being read.
type requestFile struct{ walker }

// httpBlock is what stands between two lines ###.
type httpBlock struct {
	lines      []string
	line, from int // of the first one
}

// block reads the request of a block, if there is one.
func (f *requestFile) block(b httpBlock, exact bool) {
	i := f.preamble(b.lines)
	if i == len(b.lines) {
		return
	}
	c := call.Call{Line: b.line + i}
	if exact {
		c.Span = call.Span{From: b.from, To: b.from + len(strings.Join(b.lines, ""))}
	}
	first := strings.TrimSpace(b.lines[i])
	method, address, ok := strings.Cut(first, " ")
	if !ok || !call.IsCommonMethod(strings.ToUpper(method)) {
		method, address = http.MethodGet, first
	}
	c.Method = strings.ToUpper(method)
	address, _, _ = strings.Cut(strings.TrimSpace(address), " HTTP/")
	for i++; i < len(b.lines); i++ { // the query may go over lines
		more := strings.TrimSpace(b.lines[i])
		if more == "" || more[0] != '?' && more[0] != '&' && more[0] != '/' {
			break
		}
		address += more
	}
	i = f.headers(b.lines, i, &c.Header)
	c.Body = f.content(b.lines[i:])
	c.URL = f.filled(address)
	f.offer(c)
}

// preamble takes what stands before the request: variables, comments, scripts. It
// returns the line of the request.
func (f *requestFile) preamble(lines []string) int {
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		switch {
		case line == "" || line[0] == '#' || strings.HasPrefix(line, "//"):
		case line[0] == '@':
			name, value, _ := strings.Cut(line[1:], "=")
			f.vars[strings.TrimSpace(name)] = f.filled(strings.TrimSpace(value))
		case strings.HasPrefix(line, "< {%"):
			for i < len(lines) && !strings.Contains(lines[i], "%}") {
				i++
			}
		default:
			return i
		}
	}
	return len(lines)
}

// headers reads up to the empty line and returns the line behind it.
func (f *requestFile) headers(lines []string, i int, h *http.Header) int {
	for ; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if line == "" {
			return i + 1
		}
		if name, value, ok := strings.Cut(line, ":"); ok && line[0] != '#' {
			call.AddHeader(h, name, f.filled(strings.TrimSpace(value)))
		}
	}
	return i
}

// content is the body: what stands there, or a file that it names.
func (f *requestFile) content(lines []string) []byte {
	var kept []string
	for _, line := range lines {
		if strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "<> ") {
			break // what the client does with the answer
		}
		kept = append(kept, line)
	}
	body := strings.TrimSpace(strings.Join(kept, ""))
	if name, ok := strings.CutPrefix(body, "< "); ok && !strings.Contains(name, "\n") {
		if f.out.Open == nil {
			return nil
		}
		content, err := f.out.Open(strings.TrimSpace(name))
		if err != nil {
			return nil
		}
		return content
	}
	if body == "" {
		return nil
	}
	return []byte(f.filled(body))
}
