package scan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// passedOver are folders that hold other people's code, or none.
var passedOver = words(".git .hg .svn .jj node_modules vendor .terraform __pycache__ .venv")

// Dir goes through a source tree, in any language, and hands on every string
// literal that can be a path or an address: file (with slashes), line from 1, and
// the text with "{}" for each segment that is open, whatever the language writes
// for it. Concatenations on one line are put together. The same literal is handed
// on as often as it stands there.
//
// Version control, node_modules, vendor and the like are passed over, as are
// symbolic links and binary files (a NUL in the first 8 KiB). Files over the bound
// and those that cannot be read are counted as skipped, with their places; a tree
// whose root cannot be read is an error. An error of literal stops the scan and is
// returned as it is.
func Dir(fsys fs.FS, o Options, literal func(file string, line int, text string) error) (Stats, error) {
	t := &tree{fsys: fsys, o: o.withDefaults(), literal: literal}
	err := fs.WalkDir(fsys, ".", t.visit)
	if t.stopped != nil {
		return t.stats, t.stopped
	}
	if err != nil {
		return t.stats, fmt.Errorf("walking the source tree: %w", err)
	}
	return t.stats, nil
}

type tree struct {
	fsys    fs.FS
	o       Options
	literal func(file string, line int, text string) error
	stats   Stats
	stopped error
}

func (t *tree) visit(name string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil && name == ".":
		return err
	case err != nil:
		t.stats.skip(Skip{File: name, Reason: reasonOf(err)})
		return nil
	case entry.IsDir() && name != "." && passedOver[entry.Name()]:
		return fs.SkipDir
	case !entry.Type().IsRegular():
		return nil
	}
	return t.file(name)
}

func (t *tree) file(name string) error {
	text, err := t.read(name)
	if err != nil {
		t.stats.skip(Skip{File: name, Reason: reasonOf(err)})
		return nil
	}
	if isBinary(text) {
		return nil
	}
	t.stats.Files++
	lines, err := source(name, text, func(line int, text string) error { return t.give(name, line, text) })
	t.stats.Lines += lines
	return err
}

func (t *tree) give(name string, line int, text string) error {
	if t.o.Keep != nil && !t.o.Keep([]byte(text)) {
		return nil
	}
	t.stats.Calls++
	t.stopped = t.literal(name, line, text)
	return t.stopped
}

// read returns a file of the tree. The beginning of a binary one is enough.
func (t *tree) read(name string) ([]byte, error) {
	f, err := t.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, binaryHead)
	n, err := io.ReadFull(f, head)
	head = head[:n]
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || err == nil && isBinary(head) {
		return head, nil
	}
	if err != nil {
		return nil, err
	}
	rest, err := io.ReadAll(io.LimitReader(f, t.o.MaxFile-int64(n)+1))
	if err != nil {
		return nil, err
	}
	if int64(n+len(rest)) > t.o.MaxFile {
		return nil, fmt.Errorf("larger than the bound of %d KiB", t.o.MaxFile>>10)
	}
	return append(head, rest...), nil
}

// binaryHead is how much of a file decides whether it is text.
const binaryHead = 8 << 10

func isBinary(text []byte) bool {
	return bytes.IndexByte(text[:min(len(text), binaryHead)], 0) >= 0
}

// reasonOf says what was wrong without the path, which the place has already.
func reasonOf(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}
