// Package traffic reads requests that were really sent, or that someone wrote down
// one on a line: HTTP archives with their answers, access logs, logs in JSON, and
// lines METHOD PATH-or-URL. All of them are read as a stream, in constant memory.
//
// In comes text, out go calls (package call); no other reader is imported.
package traffic

import (
	"bytes"
	"encoding/json"
)

// IsAccessLine reports whether a line is one of an access log.
func IsAccessLine(line []byte) bool {
	request, ok := quotedRequest(line)
	if !ok {
		return false
	}
	method, target, _ := splitRequest(request)
	return len(method) > 0 && len(target) > 0
}

// IsRecordLine reports whether a line is an object of JSON with members.
func IsRecordLine(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 2 && line[0] == '{' && json.Valid(line)
}

// HasTarget reports whether a record names a path or an address.
func HasTarget(record []byte) bool {
	found, err := walkRecord(bytes.TrimSpace(record))
	return err == nil && found.target.text != nil
}
