package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// measureAll measures some rows at a time, and after them those that want the
// machine for themselves. The result is in the order of the scenarios; standard output has
// each row as soon as it is known, and standard error what goes on.
func (o options) measureAll(ctx context.Context, list []scenario, dir string) []row {
	rows := make([]row, len(list))
	var telling sync.Mutex
	done := 0
	one := func(i int) {
		telling.Lock()
		fmt.Fprintf(os.Stderr, "%s: begins\n", list[i].name)
		telling.Unlock()
		rows[i] = o.measureIn(ctx, list[i], dir)
		telling.Lock()
		defer telling.Unlock()
		done++
		rows[i].tell(os.Stderr, done, len(list))
		fmt.Print(line(rows[i].cells()))
	}
	fmt.Print(head())
	places := make(chan struct{}, max(o.jobs, 1))
	var group sync.WaitGroup
	for i, s := range list {
		if s.alone {
			continue
		}
		places <- struct{}{}
		group.Go(func() { one(i); <-places })
	}
	group.Wait()
	for i, s := range list {
		if s.alone {
			one(i)
		}
	}
	return rows
}

// measureIn measures a row in a folder of its own.
func (o options) measureIn(ctx context.Context, s scenario, dir string) row {
	if ctx.Err() != nil {
		return row{scenario: s, err: ctx.Err()}
	}
	dir = filepath.Join(dir, s.name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return row{scenario: s, err: err}
	}
	if !o.keep {
		defer os.RemoveAll(dir)
	}
	return o.measure(ctx, s, dir)
}
