//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
)

// scene is a platform, the repository that declares it, and the program.
type scene struct {
	options
	fleet    fleet
	platform platform
	database *database // nil: the state is a file
}

// configure writes the configuration of a replica: no budget in the way, and no limit, since commits
// here weaken the whole fleet. It returns the file. All credentials together have the requests in
// flight.
func (s scene) configure(sweep string, replica int) (string, error) {
	dir := filepath.Join(s.fleet.dir, fmt.Sprintf("replica-%d", replica+1))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	config := harness.ServiceConfig{
		Source: fmt.Sprintf("url: %q", "file://"+s.fleet.Dir), BaseURL: s.platform.BaseURL, Token: s.platform.RulesetsToken.Reveal(),
		Sync: "@every 1h", Sweep: sweep, Requests: 100_000_000, Concurrency: max(1, s.concurrency/s.fleet.accounts),
	}
	if s.database != nil {
		config.State = fmt.Sprintf("{dir: %q, postgres: {url: %q, replica: %q}}", filepath.Join(dir, "state"), s.database.URL("postgres"), filepath.Base(dir))
	}
	if accounts := s.fleet.tree(lowest).EachAccount(); len(accounts) > 1 {
		config.Credentials = "{}"
		for _, a := range accounts {
			secret := filepath.Join(dir, a.Key)
			if err := os.WriteFile(secret, []byte(a.Secret), 0o600); err != nil {
				return "", err
			}
			config.More += fmt.Sprintf("accounts: %q: credentials: rulesets: file: %q\n", a.Key, secret)
		}
	}
	return config.WriteFiles(dir)
}

// heal applies the declaration to a fleet in which every zone differs.
func (s scene) heal(ctx context.Context, t *table) error {
	config, err := s.configure("@every 1h", 0)
	if err != nil {
		return err
	}
	c, _, err := s.run(ctx, s.binary, "apply", "--config", config)
	c.written = s.fleet.zones
	t.add("heal all, a process", c)
	return err
}

// floor reads the fleet with the bare client. Entry points have their overrides
// by now.
func (s scene) floor(ctx context.Context, t *table) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	costs, err := times(s.repeat, func(int) (cost, error) {
		c, out, err := s.run(ctx, self, floorCommand, "-base-url", s.platform.BaseURL,
			"-zones", strconv.Itoa(s.fleet.zones), "-concurrency", strconv.Itoa(s.concurrency))
		if err != nil {
			return c, err
		}
		took, err := strconv.ParseInt(out, 10, 64)
		c.wall = time.Duration(took)
		return c, err
	})
	if err != nil {
		return fmt.Errorf("measuring the floor: %w", err)
	}
	t.floor = medians(costs)
	t.show()
	return nil
}

// compile validates the folder: what of a cold plan is CUE.
func (s scene) compile(ctx context.Context, t *table) error {
	c, err := s.repeated(ctx, s.binary, "validate", s.fleet.Dir)
	t.add("validate, a process", c)
	return err
}

func (s scene) plan(ctx context.Context, t *table) error {
	config, err := s.configure("@every 1h", 0)
	if err != nil {
		return err
	}
	folder, err := s.repeated(ctx, s.binary, "plan", "--config", config, "--dir", s.fleet.Dir)
	if err != nil {
		return err
	}
	t.add("cold plan of a folder, a process", folder)
	git, err := s.repeated(ctx, s.binary, "plan", "--config", config)
	t.add("cold plan of git, a process", git)
	return err
}
