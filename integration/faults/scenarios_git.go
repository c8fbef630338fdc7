package main

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// gitScenarios are faults of the git server and of what it serves.
func gitScenarios() []scenario {
	return []scenario{
		gitFault("git-silent", "git accepts connections and never answers", silent, pushesNone),
		gitFault("git-headers", "git answers with headers, then silence", headersOnly, pushesNone),
		gitFault("git-stalls", "git stops in the middle of a pack", stalled(600), pushesNone),
		gitFault("git-slow", "git takes 5 to 15 s for each answer", delayed(5*time.Second, 15*time.Second), pushesShow),
		gitFault("git-flaps", "git is well for 2 s, down for 3 s, in turns", flapping(2*time.Second, 3*time.Second), pushesShow),
		{
			name: "git-refused", fault: "git refuses connections", pushes: pushesNone,
			begin: func(ctx context.Context, f *fixture) error {
				if err := f.repo.refuse(); err != nil {
					return err
				}
				return pushUnseen(ctx, f)
			},
			end: func(_ context.Context, f *fixture) error { return f.repo.reopen() },
		},
		{
			name: "git-bomb", fault: "a pack that inflates to 2 GiB", pushes: pushesNone, alone: true,
			begin: pushBomb, end: takeBombBack, recovery: 2 * time.Minute,
		},
		{
			name: "git-tag", fault: "`refs/heads/main` is gone, `refs/tags/refs/heads/main` exists", pushes: pushesNone,
			begin: replaceBranchByTag, end: bringBranchBack, tooMany: writesOfTheTag,
		},
	}
}

// gitFault disturbs the git server, and has a commit wait for its end.
func gitFault(name, text string, by fault, p pushes) scenario {
	return scenario{
		name: name, fault: text, pushes: p,
		begin: func(ctx context.Context, f *fixture) error { f.repo.disturb(by); return pushUnseen(ctx, f) },
		end:   func(_ context.Context, f *fixture) error { f.repo.calm(); return nil },
	}
}

// pushUnseen pushes a commit that the daemon cannot see for now.
func pushUnseen(ctx context.Context, f *fixture) error {
	_, err := f.push(ctx)
	return err
}

const bombSize = 2 << 30

// pushBomb commits a file of zeros. It is a hole on the disk, and some megabytes
// in a pack.
func pushBomb(ctx context.Context, f *fixture) error {
	if err := f.repo.Each(ctx, "config core.bigFileThreshold 1m", "config core.compression 1"); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(f.repo.Dir, "zeros.bin"))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Truncate(bombSize); err != nil {
		return err
	}
	if err := f.repo.Commit(ctx, "add a file of zeros", nil); err != nil {
		return err
	}
	return f.daemon.Poke(ctx)
}

func takeBombBack(ctx context.Context, f *fixture) error {
	return f.repo.Git(ctx, "reset", "-q", "--hard", "HEAD~1")
}

// tagScore is what the commit asks for that only the tag points at.
const tagScore = 777

func replaceBranchByTag(ctx context.Context, f *fixture) error {
	const name = "team-000/zones.cue"
	good, err := os.ReadFile(filepath.Join(f.repo.Dir, name))
	if err != nil {
		return err
	}
	other := newFleet(f.fleet.size())
	if err := f.repo.Git(ctx, "checkout", "-q", "--detach"); err != nil {
		return err
	}
	if err := f.repo.Commit(ctx, "what the tag says", other.declare(all(span(pushed, pushed+pushZones), tagScore))); err != nil {
		return err
	}
	if err := f.repo.Each(ctx, "update-ref refs/tags/refs/heads/main HEAD", "branch -q -D main"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(f.repo.Dir, name), good, 0o644); err != nil {
		return err
	}
	return f.daemon.Poke(ctx)
}

// bringBranchBack makes a branch again whose files are those that were last
// declared.
func bringBranchBack(ctx context.Context, f *fixture) error {
	return f.repo.Each(ctx, "checkout -q -b main", "commit -q -a -m again")
}

func writesOfTheTag(f *fixture) int { return f.writesOf(tagScore, time.Time{}) }
