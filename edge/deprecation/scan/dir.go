package scan

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// passedOver are folders that hold other people's code, or none.
var passedOver = call.Words(".git .hg .svn .jj node_modules bower_components vendor .terraform .terragrunt-cache __pycache__ .venv venv .tox site-packages")

// Dir goes through a tree and reads each file as [Reader] would read it; what no
// format is recognised in, and what cannot be read as what it is, is searched for
// string literals that can be addresses, whatever its language. Calls are handed
// on by files (with slashes), in the order of their names.
//
// Version control, node_modules, vendor and the like are passed over, as are
// symbolic links and binary files (a NUL in the first 8 KiB). Files over the bound
// and those that cannot be read are counted as skipped, with their places; a tree
// whose root cannot be read is an error. An error of yield stops the scan and is
// returned as it is.
//
// Files are read by several goroutines, at most as many as there are processors;
// yield and Progress are called by one at a time.
func Dir(fsys fs.FS, o Options, yield func(file string, c Call) error) (Stats, error) {
	t := &tree{fsys: fsys, o: o.WithDefaults(), yield: yield}
	t.stats.Unread = map[string]int{}
	err := fs.WalkDir(fsys, ".", t.visit)
	if err == nil {
		err = t.read()
	}
	if t.stopped != nil {
		return t.stats, t.stopped
	}
	if err != nil {
		return t.stats, fmt.Errorf("walking the source tree: %w", err)
	}
	return t.stats, nil
}

// tree is a tree as it is being read. One goroutine lists the files and hands on.
type tree struct {
	fsys    fs.FS
	o       Options
	yield   func(file string, c Call) error
	stats   Stats
	bytes   int64
	files   int
	waiting []*result // in the order of the tree
	stopped error
}

// ahead is how many files are read together before the first of them is handed on.
const ahead = 256

// visit takes a file, or what is wrong with it.
func (t *tree) visit(name string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil && name == ".":
		return err
	case err == nil && entry.IsDir() && name != "." && passedOver[entry.Name()]:
		return fs.SkipDir
	case err == nil && !entry.Type().IsRegular():
		return nil
	}
	if t.waiting = append(t.waiting, &result{name: name, failed: err}); len(t.waiting) < ahead {
		return nil
	}
	return t.read()
}

// read reads the files that wait, by as many goroutines as there are processors, and hands
// on what was found.
func (t *tree) read() error {
	var reading sync.WaitGroup
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		reading.Go(func() {
			w := worker{fsys: t.fsys, o: t.o, in: bufio.NewReaderSize(nil, binaryHead)}
			for i := next.Add(1); i <= int64(len(t.waiting)); i = next.Add(1) {
				w.file(t.waiting[i-1])
			}
		})
	}
	reading.Wait()
	for _, r := range t.waiting {
		if err := t.take(r); err != nil {
			return err
		}
	}
	t.waiting = t.waiting[:0]
	return nil
}

// take hands on what was found in a file.
func (t *tree) take(r *result) error {
	t.files++
	t.bytes += r.bytes
	if t.o.Progress != nil {
		t.o.Progress(r.name, t.files, t.bytes)
	}
	if r.read {
		t.stats.Files++
	}
	t.stats.Lines += r.stats.Lines
	t.stats.Targets += r.stats.Targets
	t.stats.Skipped += r.stats.Skipped
	for _, s := range r.stats.First {
		if s.File = r.name; len(t.stats.First) < call.FirstSkips {
			t.stats.First = append(t.stats.First, s)
		}
	}
	if r.as != "" {
		t.stats.Unread[r.as]++
	}
	for _, c := range r.calls {
		t.stats.Calls++
		if t.stopped = t.yield(r.name, c); t.stopped != nil {
			return t.stopped
		}
	}
	return nil
}

// result is what was found in one file.
type result struct {
	name   string
	failed error // to list it
	read   bool
	bytes  int64
	as     string // what it could not be read as
	stats  call.Stats
	calls  []Call
}

func (r *result) unread(as, reason string) {
	r.as = as
	r.stats.Skip(Skip{File: r.name, Reason: reason})
}

// worker reads files one after the other.
type worker struct {
	fsys fs.FS
	o    Options
	in   *bufio.Reader
}

// file reads one file. Of those over the bound captures and logs are read, as a stream.
func (w *worker) file(r *result) {
	if r.failed != nil {
		r.unread("unreadable", reasonOf(r.failed))
		return
	}
	f, err := w.fsys.Open(r.name)
	if err != nil {
		r.unread("unreadable", reasonOf(err))
		return
	}
	defer f.Close()
	w.in.Reset(f)
	beginning, _ := w.in.Peek(binaryHead) // what is wrong is met again
	wide := isUTF16(beginning)
	if isPacked(beginning) {
		w.scan(r, w.in, nil)
		return
	}
	if isBinary(beginning) && !wide {
		return
	}
	text, err := io.ReadAll(io.LimitReader(w.in, w.o.MaxFile+1))
	r.bytes = int64(len(text))
	switch {
	case err != nil:
		r.unread("unreadable", reasonOf(err))
	case r.bytes > w.o.MaxFile && mayBeLarge(head{name: r.name, text: text[:min(len(text), headSize)], tree: true}.recognise()):
		w.scan(r, io.MultiReader(bytes.NewReader(text), w.in), nil)
	case r.bytes > w.o.MaxFile:
		r.unread("larger than the bound", fmt.Sprintf("larger than the bound of %d KiB", w.o.MaxFile>>10))
	case w.o.KeepFile != nil && !wide && !w.o.KeepFile(text):
		r.read = true
		r.stats.Lines = bytes.Count(text, []byte("\n"))
	default:
		w.scan(r, bytes.NewReader(text), text)
	}
}

// scan reads a file as what it is. Where that fails, its literals are searched, if its
// text is at hand.
func (w *worker) scan(r *result, in io.Reader, text []byte) {
	o := w.o
	o.Open = w.opener(r.name)
	collect := func(c Call) error {
		c.URL = strings.Clone(c.URL) // the text need not stay
		r.calls = append(r.calls, c)
		return nil
	}
	stats, err := read(in, trimPacked(r.name), o, true, collect)
	if errors.Is(err, errBinary) {
		return
	}
	r.read, r.stats = true, stats.Stats
	switch {
	case err == nil:
		return
	case text != nil:
		r.calls, o.Format = r.calls[:0], Source
		again, _ := read(bytes.NewReader(text), "unknown", o, true, collect) // a text is always one
		r.stats.Lines, r.stats.Targets = again.Lines, again.Targets
		r.unread(string(stats.Format), causeOf(err))
	case stats.Format == Unknown:
		r.read = false
		r.unread("compressed", causeOf(err))
	default:
		r.unread(string(stats.Format), causeOf(err))
	}
}

// trimPacked is the name without what the compression added.
func trimPacked(name string) string {
	if ext := path.Ext(name); ext == ".gz" || ext == ".bz2" {
		return name[:len(name)-len(ext)]
	}
	return name
}

// maxNamed bounds a file that another one names, in bytes.
const maxNamed = 1 << 20

// opener reads files that a file names, beside it or from the root of the tree.
func (w *worker) opener(of string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		for _, at := range []string{path.Join(path.Dir(of), name), path.Clean(name)} {
			if !fs.ValidPath(at) {
				continue
			}
			f, err := w.fsys.Open(at)
			if err != nil {
				continue
			}
			defer f.Close()
			return call.ReadWhole(f, maxNamed)
		}
		return nil, fs.ErrNotExist
	}
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

// causeOf is an error of Reader without the name that it begins with.
func causeOf(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	return err.Error()
}
