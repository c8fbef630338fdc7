package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
)

// daemon is `seawall run` in a process of its own, with what its log tells.
type daemon struct {
	*harness.Daemon
	log lines
}

// startDaemon starts it and waits until it serves. Its log is kept in a file, and tells of the newest
// push, too.
func startDaemon(ctx context.Context, binary, config, log string, of *trail) (*daemon, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	d := &daemon{log: lines{trail: of}}
	d.Daemon, err = harness.StartDaemon(binary, config, func(line []byte) {
		d.log.add(line)
		_, _ = file.Write(append(line, '\n'))
	}, "--log-level", "debug")
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	go func() { <-d.Ended; _ = file.Close() }()
	if err := d.Serves(ctx); err != nil {
		d.Stop()
		return nil, fmt.Errorf("%w; see %s", err, log)
	}
	return d, nil
}

// configure writes the configuration below dir and returns its file. No limit is in the way:
// commits here weaken many zones.
func configure(dir string, s shape, p *platform, r *repository) (string, error) {
	config := harness.ServiceConfig{
		Source: fmt.Sprintf("url: %q", r.url()), BaseURL: p.baseURL(), Token: mem.RulesetsTokenValue,
		Sync: "@every " + s.sync.String(), Sweep: "@every " + s.sweep.String(),
		Requests: s.requests, Per: s.per, Concurrency: s.concurrency,
	}
	if s.requests == 0 {
		config.Requests, config.Per = 100_000_000, time.Minute
	}
	return config.WriteFiles(dir)
}
