//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// scene is a platform, the repository that declares it, and the program.
type scene struct {
	options
	fleet    fleet
	platform *platform
}

// configure writes the configuration: no budget in the way, and no limit, since commits here
// weaken the whole fleet.
func (s scene) configure(sweep string) error {
	token, secret := filepath.Join(s.fleet.dir, "token"), filepath.Join(s.fleet.dir, "hook-secret")
	text := fmt.Sprintf(`source: url: %q
platform: base_url: %q
credentials: rulesets: file: %q
schedule: {sync: "@every 1h", sweep: %q}
budget: {requests: 100_000_000, concurrency: %d}
state: dir: %q
listen: "127.0.0.1:0"
guards: default: off: true
hooks: bench: {kind: "generic", secret: file: %q}
`, "file://"+s.fleet.repository(), s.platform.BaseURL, token, sweep, s.concurrency, filepath.Join(s.fleet.dir, "state"), secret)
	for path, content := range map[string]string{s.fleet.config(): text, token: s.platform.RulesetsToken + "\n", secret: hookSecret + "\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// heal applies the declaration to a fleet in which every zone differs.
func (s scene) heal(ctx context.Context, t *table) error {
	if err := s.configure("@every 1h"); err != nil {
		return err
	}
	c, _, err := s.run(ctx, s.binary, "apply", "--config", s.fleet.config())
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
	var costs []cost
	for range s.repeat {
		c, out, err := s.run(ctx, self, floorCommand, "-base-url", s.platform.BaseURL,
			"-zones", strconv.Itoa(s.fleet.zones), "-concurrency", strconv.Itoa(s.concurrency))
		if err != nil {
			return err
		}
		took, err := strconv.ParseInt(out, 10, 64)
		if err != nil {
			return fmt.Errorf("reading the floor's time: %w", err)
		}
		c.wall = time.Duration(took)
		costs = append(costs, c)
	}
	t.floor = medians(costs)
	t.show()
	return nil
}

// compile validates the folder: what of a cold plan is CUE.
func (s scene) compile(ctx context.Context, t *table) error {
	c, err := s.repeated(ctx, s.binary, "validate", s.fleet.repository())
	t.add("validate, a process", c)
	return err
}

func (s scene) plan(ctx context.Context, t *table) error {
	folder, err := s.repeated(ctx, s.binary, "plan", "--config", s.fleet.config(), "--dir", s.fleet.repository())
	if err != nil {
		return err
	}
	t.add("cold plan of a folder, a process", folder)
	git, err := s.repeated(ctx, s.binary, "plan", "--config", s.fleet.config())
	t.add("cold plan of git, a process", git)
	return err
}
