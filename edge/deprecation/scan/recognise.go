package scan

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/jsontext"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/shell"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/source"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/traffic"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// ErrUnrecognised says that an input is of no known format.
var ErrUnrecognised = errors.New("no format is recognised")

// headSize is how much of an input is read to recognise it.
const headSize = 64 << 10

// headLines is how many lines of it that say something are tried.
const headLines = 50

// head is the beginning of an input.
type head struct {
	name  string
	text  []byte
	whole bool // there is no more
	tree  bool // it is a file of a tree, which may be anything
}

// choose returns the format of an input, and the input from its beginning: an
// API description may have to be read whole to be told from other documents.
func choose(in *bufio.Reader, name string, o Options, tree bool) (Format, *bufio.Reader, error) {
	text, err := in.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return Unknown, in, err
	}
	h := head{name: name, text: text, whole: err != nil, tree: tree}
	if o.Format != Unknown {
		return o.Format, in, h.mayBe(o.Format)
	}
	format := h.recognise()
	if (format == Unknown || format == Document) && h.mayBeLong() { // its kind may show only behind its head
		if h.text, err = call.ReadWhole(in, o.MaxDocument); err != nil {
			return Unknown, in, err
		}
		in = bufio.NewReaderSize(bytes.NewReader(h.text), max(o.MaxLine, headSize))
		h.whole = true
		format = h.recognise()
	}
	if format == Unknown {
		format, err = h.unknown()
		return format, in, err
	}
	return format, in, nil
}

// unknown is what a text is taken for that no format is recognised in.
func (h head) unknown() (Format, error) {
	if h.tree {
		return Source, nil
	}
	return Unknown, fmt.Errorf("%w; tried %s", ErrUnrecognised, formatNames())
}

// mayBe refuses a forced format of which there is no trace.
func (h head) mayBe(f Format) error {
	if readerOf(f, h.name) == nil {
		return fmt.Errorf("%q is no format; there are %s", f, formatNames())
	}
	if f == AccessLog || f == Plain {
		if counts := h.count(); counts.of[f] == 0 && counts.tried > 0 {
			return fmt.Errorf("%w: none of the first %d lines can be read as %s", ErrUnrecognised, counts.tried, f)
		}
	}
	return nil
}

// recognise returns the format that the name or the head shows, or Unknown.
func (h head) recognise() Format {
	text := bytes.TrimSpace(h.text)
	switch {
	case len(text) == 0 && h.whole:
		return Empty
	case len(text) == 0:
		return Unknown
	}
	if f := formatOfName(h.name); f != Unknown {
		return f
	}
	switch {
	case shebang().Match(text):
		return Shell
	case text[0] == '[' && h.arrayOfRecords():
		return Records
	case text[0] == '{':
		if f := h.object(); f != Unknown {
			return f
		}
	case yamlAPI().Match(h.text):
		return OpenAPI
	}
	if isTree(h.name) {
		return Document
	}
	switch {
	case source.Known(h.name, string(text[:min(len(text), 200)])):
		return Source
	case text[0] == '{':
		return Unknown
	}
	return h.byLines()
}

// ends are those of names that leave no doubt.
var ends = map[Format]string{
	HCL: ".tf .tofu .tf.json .tofu.json", Requests: ".http .rest", Document: ".ipynb", Markdown: ".md .markdown", HAR: ".har", Shell: ".sh .bash .zsh .ksh",
}

// formatOfName is the format of files whose name leaves no doubt.
func formatOfName(name string) Format {
	name = strings.ToLower(name)
	for format, all := range ends {
		for end := range strings.FieldsSeq(all) {
			if strings.HasSuffix(name, end) {
				return format
			}
		}
	}
	return Unknown
}

// isTree reports whether a name is that of a document in JSON or YAML.
func isTree(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json", ".postman_collection":
		return true
	}
	return false
}

var (
	shebang = lazyregexp.New(`^#!.*\b(sh|bash|zsh|dash|ksh)\b`)
	yamlAPI = lazyregexp.New(`(?m)^["']?(openapi|swagger)["']?\s*:\s*["']?[23]\b`)
)

// object tells JSON documents apart by the members of their first object.
func (h head) object() Format {
	if f := formatOfKeys(jsontext.TopKeys(h.text)); f != Unknown {
		return f
	}
	if first, complete := jsontext.First(h.text); h.count().of[Records] > 1 || complete && traffic.HasTarget(first) {
		return Records
	}
	return Unknown
}

// arrayOfRecords reports whether an array begins with a record of a call. With a
// scope it is a recorded interaction of nock.
func (h head) arrayOfRecords() bool {
	first, complete := jsontext.First(bytes.TrimSpace(h.text)[1:])
	keys := jsontext.TopKeys(first)
	return complete && traffic.HasTarget(first) && formatOfKeys(keys) == Unknown && !keys["scope"]
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
	case keys["request"] && keys["response"], keys["info"] && keys["item"], keys["interactions"], keys["http_interactions"],
		keys["nbformat"], keys["mappings"], keys["__export_format"]:
		return Document
	}
	return Unknown
}

// byLines tells formats of lines apart by what most lines can be read as, and
// scripts by a call in them. Of a tree, which has many texts with a line or two
// that look like something, only those are taken in which most lines do.
func (h head) byLines() Format {
	counts := h.count()
	best := counts.best()
	switch {
	case h.tree && 2*counts.of[best] < counts.tried:
	case best != Unknown:
		return best
	}
	switch {
	case shell.HasCalls(string(h.text)):
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
		if traffic.IsBlank(line) || !ended && !h.whole && c.tried > 0 {
			continue
		}
		c.tried++
		c.of[formatOfLine(call.TrimEnd(line))]++
	}
	return c
}

// formatOfLine returns the format that a line can be read as, or Unknown.
func formatOfLine(line []byte) Format {
	switch {
	case traffic.IsAccessLine(line):
		return AccessLog
	case traffic.IsRecordLine(line):
		return Records
	case traffic.IsPlain(line):
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

// mayBeLong reports whether an input may be a document whose kind shows only
// behind its head.
func (h head) mayBeLong() bool {
	text := bytes.TrimSpace(h.text)
	return !h.whole && (len(text) > 0 && text[0] == '{' || isTree(h.name))
}
