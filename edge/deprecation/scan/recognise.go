package scan

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
)

// ErrUnrecognised says that an input is of no known format.
var ErrUnrecognised = errors.New("no format is recognised")

// headSize is how much of an input is looked at to recognise it.
const headSize = 64 << 10

// headLines is how many lines of it that say something are tried.
const headLines = 50

// head is the beginning of an input.
type head struct {
	name  string
	text  []byte
	whole bool // there is no more
}

// choose returns the format of an input, and the input from its beginning: an
// API description may have to be read whole to be told from other documents.
func choose(in *bufio.Reader, name string, o Options) (Format, *bufio.Reader, error) {
	text, err := in.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return Unknown, in, err
	}
	h := head{name: name, text: text, whole: err != nil}
	switch format := h.recognise(); {
	case o.Format != Unknown:
		return o.Format, in, h.mayBe(o.Format)
	case format != Unknown:
		return format, in, nil
	case isDocument(h):
		return chooseWhole(in, o)
	}
	return Unknown, in, fmt.Errorf("%w; tried %s. To search the string literals of source code, give its folder", ErrUnrecognised, formatNames())
}

// mayBe refuses a forced format of which there is no trace.
func (h head) mayBe(f Format) error {
	if parsers[f] == nil {
		return fmt.Errorf("%q is no format; there are %s", f, formatNames())
	}
	if f == AccessLog || f == Plain {
		if counts := h.count(); counts.of[f] == 0 && counts.tried > 0 {
			return fmt.Errorf("%w: none of the first %d lines can be read as %s", ErrUnrecognised, counts.tried, f)
		}
	}
	return nil
}

// recognise returns the format that the head shows, or Unknown.
func (h head) recognise() Format {
	text := bytes.TrimSpace(h.text)
	switch {
	case len(text) == 0 && h.whole:
		return Empty
	case len(text) == 0:
		return Unknown
	case isShebang(text):
		return Shell
	case text[0] == '[' && h.arrayOfRecords():
		return Records
	case text[0] == '{':
		return h.object()
	case yamlAPI.Match(h.text):
		return OpenAPI
	}
	return h.byLines()
}

var (
	shebang = regexp.MustCompile(`^#!.*\b(sh|bash|zsh|dash|ksh)\b`)
	yamlAPI = regexp.MustCompile(`(?m)^["']?(openapi|swagger)["']?\s*:\s*["']?[23]\b`)
)

func isShebang(text []byte) bool { return shebang.Match(text) }

// object tells JSON documents apart by the members of their first object.
func (h head) object() Format {
	first, complete := firstValue(h.text)
	if f := formatOfKeys(topKeys(first)); f != Unknown {
		return f
	}
	if h.count().of[Records] > 1 || complete && hasTarget(first) {
		return Records
	}
	return Unknown
}

// arrayOfRecords reports whether an array begins with a record of a call.
func (h head) arrayOfRecords() bool {
	inner := bytes.TrimSpace(bytes.TrimSpace(h.text)[1:])
	first, complete := firstValue(inner)
	return complete && hasTarget(first)
}

func hasTarget(record []byte) bool {
	found, err := walkRecord(bytes.TrimSpace(record))
	return err == nil && found.target.text != nil
}

// formatOfKeys tells a document by the members of its outermost object.
func formatOfKeys(keys map[string]bool) Format {
	switch {
	case keys["openapi"], keys["swagger"]:
		return OpenAPI
	case keys["format_version"], keys["terraform_version"], keys["lineage"] && keys["serial"]:
		return Terraform
	case keys["log"] && len(keys) == 1:
		return HAR
	}
	return Unknown
}

// byLines tells formats of lines apart by what most lines can be read as, and
// scripts by a call in them.
func (h head) byLines() Format {
	counts := h.count()
	if best := counts.best(); best != Unknown {
		return best
	}
	if countCommands(h.text) > 0 {
		return Shell
	}
	switch ext := path.Ext(h.name); {
	case ext == ".sh" || ext == ".bash" || ext == ".zsh":
		return Shell
	case counts.tried == 0:
		return Plain // comments alone
	}
	return Unknown
}

// lineCounts says how many of the lines tried can be read as each format.
type lineCounts struct {
	of    map[Format]int
	tried int
}

func (h head) count() lineCounts {
	c := lineCounts{of: map[Format]int{}}
	text := h.text
	for len(text) > 0 && c.tried < headLines {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		text = rest
		if isBlank(line) || !ended && !h.whole && c.tried > 0 {
			continue
		}
		c.tried++
		c.of[formatOfLine(trimEnd(line))]++
	}
	return c
}

// formatOfLine returns the format that a line can be read as, or Unknown.
func formatOfLine(line []byte) Format {
	if request, ok := quotedRequest(line); ok {
		if method, target, _ := splitRequest(request); len(method) > 0 && len(target) > 0 {
			return AccessLog
		}
	}
	if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(trimmed) && len(trimmed) > 2 {
		return Records
	}
	if isPlain(line) {
		return Plain
	}
	return Unknown
}

// best is the format that most lines can be read as.
func (c lineCounts) best() Format {
	best, most := Unknown, 0
	for _, f := range []Format{AccessLog, Records, Plain} {
		if c.of[f] > most {
			best, most = f, c.of[f]
		}
	}
	return best
}

// isDocument reports whether an input may be a document whose kind shows only
// behind its head.
func isDocument(h head) bool {
	text := bytes.TrimSpace(h.text)
	if len(text) > 0 && text[0] == '{' {
		return !h.whole
	}
	ext := strings.ToLower(path.Ext(h.name))
	return !h.whole && (ext == ".yaml" || ext == ".yml")
}

// chooseWhole reads a document whole and tells it by all of its outermost members.
func chooseWhole(in *bufio.Reader, o Options) (Format, *bufio.Reader, error) {
	text, err := readWhole(in, o.MaxDocument)
	if err != nil {
		return Unknown, in, err
	}
	again := bufio.NewReaderSize(bytes.NewReader(text), max(o.MaxLine, headSize))
	if bytes.TrimSpace(text)[0] != '{' {
		if yamlAPI.Match(text) {
			return OpenAPI, again, nil
		}
	} else if f := formatOfKeys(topKeys(text)); f != Unknown {
		return f, again, nil
	}
	return Unknown, again, fmt.Errorf("%w; tried %s", ErrUnrecognised, formatNames())
}
