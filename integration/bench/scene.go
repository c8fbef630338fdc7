//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
)

// scene is a platform, the repository that declares it, and the program.
type scene struct {
	options
	fleet    fleet
	platform platform
}

// configure writes the configuration: no budget in the way, and no limit, since commits here
// weaken the whole fleet. It returns the file.
func (s scene) configure(sweep string) (string, error) {
	config := harness.ServiceConfig{
		Source: fmt.Sprintf("url: %q", "file://"+s.fleet.Dir), BaseURL: s.platform.BaseURL, Token: s.platform.RulesetsToken.Reveal(),
		Sync: "@every 1h", Sweep: sweep, Requests: 100_000_000, Concurrency: s.concurrency,
	}
	return config.WriteFiles(s.fleet.dir)
}

// heal applies the declaration to a fleet in which every zone differs.
func (s scene) heal(ctx context.Context, t *table) error {
	config, err := s.configure("@every 1h")
	if err != nil {
		return err
	}
	c, _, err := s.run(ctx, s.binary, "apply", "--config", config)
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
	config, err := s.configure("@every 1h")
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
