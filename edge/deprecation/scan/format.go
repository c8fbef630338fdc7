package scan

import (
	"fmt"
	"strings"
)

// Format is a kind of input. Its text is the name for people and for a flag.
type Format string

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
	Plain     Format = "plain"      // METHOD PATH-or-URL [JSON body]
)

// Formats are those that can be asked for, in the order they are tried.
var Formats = []Format{HAR, OpenAPI, Terraform, Records, AccessLog, Plain, Shell}

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
