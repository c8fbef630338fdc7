package scan

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/document"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/shell"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/source"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/terraform"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/traffic"
)

// The formats.
const (
	Unknown   Format = ""
	Empty     Format = "empty" // nothing but white space
	HAR       Format = "har"
	AccessLog Format = "access-log" // common or combined, of Apache, nginx and others
	Records   Format = "json-lines" // one JSON object for each request: lines, an array, or one after another
	Shell     Format = "shell"      // curl, wget and HTTPie in scripts
	OpenAPI   Format = "openapi"    // 2 and 3, JSON or YAML
	Terraform Format = "terraform"  // a plan or state as JSON
	HCL       Format = "hcl"        // a Terraform configuration: .tf and .tf.json
	Requests  Format = "http"       // requests of a REST client: .http and .rest
	Document  Format = "document"   // JSON or YAML with requests in it: collections, recorded interactions, playbooks, pipelines, notebooks
	Markdown  Format = "markdown"   // the code in a text
	Plain     Format = "plain"      // METHOD PATH-or-URL [JSON body]
	Source    Format = "source"     // a program, in any language
)

// Formats are those that can be asked for, in the order they are tried.
var Formats = []Format{HAR, OpenAPI, Terraform, HCL, Requests, Records, AccessLog, Plain, Shell, Document, Markdown, Source}

// readers holds the reader of each format; that of source code depends on the
// name.
var readers = map[Format]call.Reader{
	Empty:     func(*bufio.Reader, *call.Sink) error { return nil },
	HAR:       traffic.HAR,
	AccessLog: traffic.AccessLog,
	Records:   traffic.Records,
	Plain:     traffic.Plain,
	Shell:     call.Whole(shell.Read),
	OpenAPI:   call.Whole(document.OpenAPI),
	Requests:  call.Whole(document.Requests),
	Document:  call.Whole(document.Any),
	Markdown:  call.Whole(document.Markdown),
	Terraform: terraform.Plan,
	HCL:       call.Whole(readHCL),
}

func readHCL(text []byte, out *call.Sink) error {
	if bytes.HasPrefix(text, []byte("{")) {
		return terraform.ConfigJSON(text, out)
	}
	return terraform.Config(text, out)
}

func readerOf(f Format, name string) call.Reader {
	if f == Source {
		return call.Whole(func(text []byte, out *call.Sink) error {
			source.Text(source.Code{Name: name, Text: string(text), Line: 1}, out)
			return nil
		})
	}
	return readers[f]
}

// mayBeLarge reports whether files of a format are read past [call.Options].MaxFile: those
// that are read as a stream.
func mayBeLarge(f Format) bool {
	return f == HAR || f == AccessLog || f == Records || f == Plain || f == Terraform
}

// ParseFormat returns the format of a name.
func ParseFormat(name string) (Format, error) {
	for _, f := range Formats {
		if string(f) == name {
			return f, nil
		}
	}
	return Unknown, fmt.Errorf("%q is no format; there are %s", name, formatNames())
}

func formatNames() string {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}
