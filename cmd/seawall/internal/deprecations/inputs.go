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
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/report"
	"github.com/seawall-dev/seawall/edge/deprecation/scan"
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
		return c.calls(c.In, name, 0)
	}
	in := report.Input{Name: filepath.ToSlash(name)}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return in, cli.Fail(fmt.Errorf("there is no file or folder %q", name), "name files, folders of source code, or - for standard input")
	}
	if err != nil {
		return in, cli.Fail(err)
	}
	if info.IsDir() {
		return c.literals(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return in, cli.Fail(err)
	}
	defer f.Close()
	return c.calls(f, in.Name, info.Size())
}

// calls looks at the calls of a file.
func (c *Check) calls(r io.Reader, name string, size int64) (report.Input, error) {
	follow := c.follow(r, name, size)
	defer follow.wipe()
	seen := 0
	o := scan.Options{Format: scan.Format(c.Format), KeepWhole: true, Keep: func(target []byte) bool {
		seen++
		return c.matcher.MayMatch(target)
	}}
	stats, err := scan.Reader(follow, name, o, func(call scan.Call) error {
		req := deprecation.Request{Method: call.Method, URL: call.URL, Header: call.Header, Body: call.Body}
		if notices := c.matcher.Match(req, c.day); len(notices) > 0 {
			c.collector.Add(notices, report.Seen{Request: req, Where: deprecation.Where{File: name, Line: call.Line}, Address: call.Address})
		}
		return nil
	})
	in := inputOf(name, stats)
	in.Calls = seen
	return in, c.judge(in, err)
}

// judge makes an error of an input of which nothing could be read: no notices of
// it would be no news at all.
func (c *Check) judge(in report.Input, err error) error {
	const hint = "set the format with --format; seawall deprecations check --help lists the formats"
	switch {
	case errors.Is(err, scan.ErrUnrecognised):
		return cli.Fail(err, hint)
	case err != nil:
		return cli.Fail(err)
	case in.Skipped > 0 && in.Calls == 0 && in.Files == 0:
		s := in.Skips[0]
		return cli.Fail(fmt.Errorf("nothing in %s could be read: %s", in.Name, s.Reason), hint)
	}
	return nil
}

func inputOf(name string, stats scan.Stats) report.Input {
	in := report.Input{Name: name, Format: string(stats.Format), Files: stats.Files, Lines: stats.Lines, Calls: stats.Calls, Skipped: stats.Skipped}
	for _, s := range stats.First {
		in.Skips = append(in.Skips, report.Skip{File: s.File, Line: s.Line, Reason: s.Reason})
	}
	return in
}

// literals looks at the string literals of a source tree.
func (c *Check) literals(dir string) (report.Input, error) {
	name := filepath.ToSlash(dir)
	seen := 0
	o := scan.Options{Keep: func(text []byte) bool {
		seen++
		return c.matcher.MayMatch(text)
	}}
	show, wipe := c.Terminal.Progress()
	defer wipe()
	began := time.Now()
	stats, err := scan.Dir(os.DirFS(dir), o, func(file string, line int, text string) error {
		if show != nil && time.Since(began) > quiet {
			show(cli.OneLine("searching "+join(name, file)), 0, 0)
		}
		where := deprecation.Where{File: join(name, file), Line: line}
		c.collector.Add(c.ofLiteral(text), report.Seen{Request: deprecation.Request{URL: text}, Where: where})
		return nil
	})
	in := inputOf(name, stats)
	in.Calls = seen
	return in, c.judge(in, err)
}

// ofLiteral is what a path uses, whatever the method. Where a rule is about a
// query, that decides which of its days counts and how to rewrite it.
func (c *Check) ofLiteral(text string) (notices []deprecation.Notice) {
	for _, rule := range c.matcher.MatchPath(text) {
		found := false
		for _, n := range c.matcher.Match(deprecation.Request{Method: "GET", URL: text}, c.day) {
			if n.Rule != rule.ID || n.Info {
				continue
			}
			found = true
			notices = append(notices, withoutMethod(n))
		}
		if !found {
			notices = append(notices, rule.Notice(c.day))
		}
	}
	return notices
}

// withoutMethod takes out the method that was tried.
func withoutMethod(n deprecation.Notice) deprecation.Notice {
	if n.Rewrite != nil {
		rewrite := *n.Rewrite
		rewrite.Method = ""
		n.Rewrite = &rewrite
	}
	for i := range n.Rewrites {
		n.Rewrites[i].Method = ""
	}
	return n
}

// join is the path of a file in a folder as a person would name it.
func join(dir, file string) string { return path.Join(dir, file) }

// quiet is how long a command works without a word.
const quiet = time.Second

// follower shows how far the reading of a long input is, on a terminal.
type follower struct {
	io.Reader
	show        func(stage string, done, total int)
	wipe        func()
	name        string
	read, size  int64
	began, last time.Time
}

func (c *Check) follow(r io.Reader, name string, size int64) *follower {
	show, wipe := c.Terminal.Progress()
	now := time.Now()
	return &follower{Reader: r, show: show, wipe: wipe, name: cli.OneLine(name), size: size, began: now, last: now}
}

func (f *follower) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	f.read += int64(n)
	if f.show == nil {
		return n, err
	}
	if now := time.Now(); now.Sub(f.began) > quiet && now.Sub(f.last) > quiet/5 {
		f.last = now
		f.show(f.progress(), 0, 0)
	}
	return n, err
}

func (f *follower) progress() string {
	text := fmt.Sprintf("reading %s: %d MB", f.name, f.read/1_000_000)
	if f.size > 0 {
		text += fmt.Sprintf(" of %d, %d %%", f.size/1_000_000, 100*f.read/f.size)
	}
	return text
}
