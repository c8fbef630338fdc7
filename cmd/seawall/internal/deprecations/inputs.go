package deprecations

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/fix"
	"github.com/seawall-dev/seawall/edge/deprecation/report"
	"github.com/seawall-dev/seawall/edge/deprecation/scan"
	"github.com/seawall-dev/seawall/edge/deprecation/search"
)

// input looks at one argument. What is wrong with it is kept for the end; an
// error ends the command.
func (c *Check) input(ctx context.Context, name string) error {
	in := report.Input{Name: filepath.ToSlash(name)}
	done := make(chan error, 1)
	go func() {
		var err error
		in, err = c.read(name)
		done <- err
	}()
	// A read of a pipe or a terminal cannot be interrupted, so it is left behind.
	select {
	case <-ctx.Done():
		return cli.Fail(fmt.Errorf("reading %s was interrupted: %w", name, context.Cause(ctx)), "nothing was reported")
	case err := <-done:
		if err != nil {
			in.Error = err.Error()
			c.failed = append(c.failed, err)
		}
		c.inputs = append(c.inputs, in)
		return nil
	}
}

func (c *Check) read(name string) (report.Input, error) {
	if name == "-" {
		in, err := c.calls(c.In, name, 0)
		if err == nil && in.Format == string(scan.Empty) { // a program that failed before the pipe looks like this
			err = cli.Fail(errors.New("standard input is empty"), cli.PipeHint)
		}
		return in, err
	}
	in := report.Input{Name: filepath.ToSlash(name)}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return in, cli.Fail(fmt.Errorf("there is no file or folder %q", name), "name files, folders of source code, or - for standard input")
	}
	if err != nil {
		return in, err
	}
	if info.IsDir() {
		return c.tree(name)
	}
	f, err := trusted.Input(name)
	if err != nil {
		return in, err
	}
	defer f.Close()
	return c.calls(f, in.Name, info.Size())
}

// calls searches a file.
func (c *Check) calls(r io.Reader, name string, size int64) (report.Input, error) {
	p := c.progress(name, size)
	p.Reader = r
	defer p.wipe()
	one := c.search()
	one.Format = scan.Format(c.Format)
	if name != "-" {
		one.Open = beside(name)
	}
	in, err := one.Reader(p, name)
	return in, c.judge(name, err)
}

// beside reads files that a file names, relative to it or to where we are.
func beside(file string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if text, err := trusted.ReadSmall(filepath.Join(filepath.Dir(file), name), maxNamed); err == nil {
			return text, nil
		}
		return trusted.ReadSmall(name, maxNamed)
	}
}

// maxNamed bounds a file that another one names, in bytes.
const maxNamed = 1 << 20

// search is what is looked for in each input.
func (c *Check) search() search.Search {
	return search.Search{
		Matcher: c.matcher, Day: c.day, Collector: c.collector, SDKs: c.clients.SDKs,
		Hosts: search.Hosts{Any: c.AnyHost, Names: slices.Concat(c.clients.Hosts, c.Hosts), Base: c.clients.Base},
		Found: func(file string, _ scan.Call, notices []deprecation.Notice) {
			if c.Fix && file != "-" && fix.Possible(notices) {
				c.fixable[file] = true
			}
		},
	}
}

// judge says what to try where an input could not be read.
func (c *Check) judge(name string, err error) error {
	const hint = "set the format with --format; seawall deprecations check --help lists the formats"
	switch {
	case errors.Is(err, search.ErrNothing):
		reason := strings.TrimPrefix(err.Error(), search.ErrNothing.Error()+": ")
		return cli.Fail(fmt.Errorf("nothing in %s could be read: %s", name, reason), hint)
	case errors.Is(err, scan.ErrUnrecognised):
		return cli.Fail(err, hint, "to search the strings of source code, use --format source or name its folder")
	}
	return err
}

// tree searches the files of a folder.
func (c *Check) tree(dir string) (report.Input, error) {
	name := filepath.ToSlash(dir)
	p := c.progress(name, 0)
	defer p.wipe()
	one := c.search()
	one.Progress = func(file string, files int, bytes int64) {
		p.tell("reading %s: %d files, %d MB", path.Join(name, path.Dir(file)), files, bytes/1_000_000)
	}
	in, err := one.Tree(os.DirFS(dir), name)
	return in, c.judge(name, err)
}

// quiet is how long a command works without a word.
const quiet = time.Second

// progress shows how far the reading of a long input is, on a terminal.
type progress struct {
	io.Reader   // what is read
	show        func(stage string, done, total int)
	wipe        func()
	name        string
	read, size  int64
	began, last time.Time
}

func (c *Check) progress(name string, size int64) *progress {
	show, wipe := c.Follow(cli.Quota{})
	return &progress{show: show, wipe: wipe, name: name, size: size, began: time.Now(), last: time.Now()}
}

func (p *progress) tell(format string, args ...any) {
	if now := time.Now(); p.show != nil && now.Sub(p.began) > quiet && now.Sub(p.last) > quiet/5 {
		p.last = now
		p.show(cli.OneLine(fmt.Sprintf(format, args...)), 0, 0)
	}
}

func (p *progress) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.read += int64(n)
	if p.size > 0 {
		p.tell("reading %s: %d MB of %d, %d %%", p.name, p.read/1_000_000, p.size/1_000_000, 100*p.read/p.size)
	} else {
		p.tell("reading %s: %d MB", p.name, p.read/1_000_000)
	}
	return n, err
}
