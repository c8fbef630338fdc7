package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/google/renameio/v2"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile/once"
)

// savedFor is how long a saved plan may be applied unless --valid says otherwise.
const savedFor = time.Hour

// maxSaved bounds a saved plan, in bytes.
const maxSaved = 256 << 20

// savePlan writes a plan to a file that only its owner can read: it says what
// protects whom.
func savePlan(path string, plan diff.Plan, s settings, o options, order once.Order, valid time.Duration) error {
	saved, err := diff.Save(plan, time.Now(), valid)
	if err != nil {
		return err
	}
	saved.From = savedFrom(o)
	saved.Platform, saved.Zones, saved.Tokens = s.Platform.BaseURL, order.Zones, order.Tokens
	data, err := json.Marshal(saved)
	if err != nil {
		return err
	}
	if err := writePrivate(path, append(data, '\n')); err != nil {
		return fmt.Errorf("saving the plan: %w", err)
	}
	return nil
}

// writePrivate replaces a file by one of mode 0600, whatever mode it had.
func writePrivate(path string, data []byte) error {
	file, err := renameio.NewPendingFile(path, renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	defer file.Cleanup()
	if _, err := file.Write(data); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}

// savedPlan reads a plan that is to be applied as it is.
func savedPlan(path string, now time.Time) (diff.Saved, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return diff.Saved{}, fail(err, "seawall plan --out "+path+" saves a plan; without a file apply makes its own plan")
	}
	if err != nil {
		return diff.Saved{}, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > maxSaved {
		return diff.Saved{}, fmt.Errorf("%s: %w: it has more than %d MiB", path, diff.ErrNotSaved, maxSaved>>20)
	}
	saved, err := diff.ReadSaved(file)
	if err != nil {
		return diff.Saved{}, fail(fmt.Errorf("%s: %w", path, err), "seawall plan --out FILE saves a plan")
	}
	if !now.Before(saved.ExpiresAt) {
		return diff.Saved{}, fail(fmt.Errorf("%s: the plan has expired: it was valid until %s", path, saved.ExpiresAt.Format(time.RFC3339)),
			"make a new plan: seawall plan --out "+path)
	}
	return saved, nil
}

// fromSaved is how apply adjusts its order to a saved plan, nil without one. It has the
// options say what the plan was made from.
func fromSaved(t *terminal, args []string, o *options) (func(settings, once.Order) (once.Order, error), error) {
	if len(args) == 0 {
		return nil, nil
	}
	saved, err := savedPlan(args[0], time.Now())
	if err != nil {
		return nil, err
	}
	if err := fillFromSaved(t, o, args[0], saved); err != nil {
		return nil, err
	}
	return func(s settings, order once.Order) (once.Order, error) {
		return expecting(order, saved, s.Platform.BaseURL)
	}, nil
}

// expecting lets an order do only what was saved. base is the platform that is
// about to be asked.
func expecting(order once.Order, saved diff.Saved, base string) (once.Order, error) {
	if len(order.Zones)+len(order.Tokens) > 0 {
		return order, usage("--only cannot be used with a saved plan; the plan keeps its own scope")
	}
	if saved.Platform != base {
		return order, fail(fmt.Errorf("the plan is for the platform %s, but the configured one is %s", saved.Platform, base), "nothing was sent")
	}
	order.Zones, order.Tokens = saved.Zones, saved.Tokens
	order.Expect = func(now diff.Plan) error {
		const hint = "nothing was sent; make and check a new plan"
		lines := saved.Differences(now)
		switch {
		case saved.Commit != now.Commit:
			if len(lines) == 0 {
				lines = []string{"it would make the same changes"}
			}
			return failLines(fmt.Errorf("the plan is for commit %s, but the repository is at %s", short(saved.Commit), short(now.Commit)), told(lines), hint)
		case len(lines) > 0:
			return failLines(errors.New("the changes would differ from the plan"), told(lines), hint)
		}
		return nil
	}
	return order, nil
}

// linesTold bounds how many differences are told.
const linesTold = 20

func told(lines []string) []string {
	if more := len(lines) - linesTold; more > 0 {
		lines = append(lines[:linesTold:linesTold], fmt.Sprintf("and %d more", more))
	}
	for i := range lines {
		lines[i] = oneLine(lines[i])
	}
	return lines
}

func short(commit string) string {
	if commit == "" {
		return "none (a folder)"
	}
	return commit[:min(len(commit), 12)]
}
