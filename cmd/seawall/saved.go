package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/moby/sys/atomicwriter"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planfile"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/once"
)

// savedFor is how long a saved plan may be applied unless --valid says otherwise.
const savedFor = time.Hour

// maxSaved bounds a saved plan, in bytes.
const maxSaved = 256 << 20

// checkOut says before anything is read that a plan cannot be saved there.
func checkOut(path string, given bool) error {
	const hint = "name a file in a folder that is there, such as --out change.plan"
	switch {
	case !given:
		return nil
	case path == "" || path == "-":
		return cli.Fail(fmt.Errorf("--out %q is not the name of a file", path), hint)
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return cli.Fail(fmt.Errorf("--out %s: it is not a regular file", path), hint)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return cli.Fail(fmt.Errorf("--out %s: %w", path, err), hint)
	}
	return nil
}

// savePlan writes a plan to a file that only its owner can read: it says what
// protects whom.
func savePlan(path string, plan diff.Plan, s setup.Settings, o setup.Options, order once.Order, valid time.Duration) error {
	saved, err := planfile.Save(plan, time.Now(), valid)
	if err != nil {
		return err
	}
	saved.From = savedFrom(o)
	saved.Platform, saved.Zones, saved.Tokens = s.Platform.BaseURL, order.Zones, order.Tokens
	data, err := json.Marshal(saved)
	if err != nil {
		return err
	}
	if err := atomicwriter.WriteFile(path, edge.RedactBytes(append(data, '\n')), 0o600); err != nil { // whatever mode it had
		return fmt.Errorf("saving the plan: %w", err)
	}
	return nil
}

// savedPlan reads a plan that is to be applied as it is.
func savedPlan(path string, now time.Time) (planfile.Saved, error) {
	file, info, err := trusted.Open(path) // a FIFO would be waited for
	if errors.Is(err, fs.ErrNotExist) {
		return planfile.Saved{}, cli.Fail(err, "seawall plan --out "+path+" saves a plan; without a file apply makes its own plan")
	}
	if err != nil {
		return planfile.Saved{}, cli.Fail(err, "name the file that seawall plan --out has written")
	}
	defer file.Close()
	if info.Size() > maxSaved {
		return planfile.Saved{}, fmt.Errorf("%s: %w: it has more than %d MiB", path, planfile.ErrNotSaved, maxSaved>>20)
	}
	saved, err := planfile.ReadSaved(io.LimitReader(file, maxSaved))
	if at := (*planfile.PlaceError)(nil); errors.As(err, &at) {
		path = fmt.Sprintf("%s:%d:%d", path, at.Line, at.Column)
	}
	if err != nil {
		return planfile.Saved{}, cli.Fail(fmt.Errorf("%s: %w", path, err), "seawall plan --out FILE saves a plan")
	}
	if !now.Before(saved.ExpiresAt) {
		return planfile.Saved{}, cli.Fail(fmt.Errorf("%s: the plan has expired: it was valid until %s", path, saved.ExpiresAt.Format(time.RFC3339)),
			"make a new plan: seawall plan --out "+path)
	}
	return saved, nil
}

// fromSaved is how apply adjusts its order to a saved plan, nil without one. It has the
// options say what the plan was made from.
func fromSaved(t *cli.Terminal, args []string, o *setup.Options, order *once.Order) (func(setup.Settings) error, error) {
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
	return func(s setup.Settings) error { return expect(order, saved, s.Platform.BaseURL) }, nil
}

// expect lets an order do only what was saved. base is the platform that is about to be
// asked.
func expect(order *once.Order, saved planfile.Saved, base string) error {
	if len(order.Zones)+len(order.Tokens) > 0 {
		return cli.Usage("--only cannot be used with a saved plan; the plan keeps its own scope")
	}
	if saved.Platform != base {
		return cli.Fail(fmt.Errorf("the plan is for the platform %s, but the configured one is %s", saved.Platform, base), "nothing was sent")
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
			return cli.FailLines(fmt.Errorf("the plan is for commit %s, but the repository is at %s", cli.ShortCommit(saved.Commit), cli.ShortCommit(now.Commit)), told(lines), hint)
		case len(lines) > 0:
			return cli.FailLines(errors.New("the changes would differ from the plan"), told(lines), hint)
		}
		return nil
	}
	return nil
}

// linesTold bounds how many differences are reported.
const linesTold = 20

func told(lines []string) []string {
	if more := len(lines) - linesTold; more > 0 {
		lines = append(lines[:linesTold:linesTold], fmt.Sprintf("and %d more", more))
	}
	for i := range lines {
		lines[i] = cli.OneLine(lines[i])
	}
	return lines
}

// savedFrom notes what flags and environment say of where a plan comes from.
func savedFrom(o setup.Options) *planfile.SavedFrom {
	return &planfile.SavedFrom{Dir: savedPath(o.Dir), Config: savedPath(o.ConfigFile()), BaseURL: o.BaseURL != "", Profile: o.Profile}
}

func savedPath(given string) planfile.SavedPath {
	if given == "" {
		return planfile.SavedPath{}
	}
	absolute, err := filepath.Abs(given)
	if err != nil { // the current folder is gone
		absolute = given
	}
	return planfile.SavedPath{Given: given, Absolute: absolute}
}

// samePath reports whether a flag names what a plan was made from. The same relative
// path counts too: a job that applies has another working copy than the one that plans.
func samePath(flag string, saved planfile.SavedPath) bool {
	return flag == saved.Given || savedPath(flag).Absolute == saved.Absolute
}

// fill takes what the command line leaves out from what a plan was made from, and says
// what it took, as flags. What the command line says otherwise is an error.
func fill(o *setup.Options, from planfile.SavedFrom, platform string) (taken []string, err error) {
	const hint = "leave out the flag, the saved plan records it; or make a new plan"
	take := func(flag string, value *string, saved string) {
		*value, taken = saved, append(taken, flag+" "+saved)
	}
	usual := os.Getenv("SEAWALL_CONFIG") != "" || from.Config.Absolute == setup.DefaultConfig
	for _, path := range []struct {
		flag   string
		value  *string
		saved  planfile.SavedPath
		needed bool
		none   string
	}{
		{"--dir", &o.Dir, from.Dir, true, "from git"},
		{"--config", &o.Config, from.Config, !usual, "without a configuration"},
	} {
		switch given := *path.value; {
		case given == "" && path.needed && path.saved.Given != "":
			take(path.flag, path.value, path.saved.Absolute)
		case given == "", samePath(given, path.saved):
		case path.saved.Given == "":
			return nil, cli.Fail(fmt.Errorf("%s %s contradicts the plan, which was made %s", path.flag, given, path.none), hint)
		default:
			return nil, cli.Fail(fmt.Errorf("%s %s contradicts the plan, which was made with %s", path.flag, given, path.saved.Absolute), hint)
		}
	}
	if o.BaseURL == "" && from.BaseURL {
		take("--base-url", &o.BaseURL, platform)
	}
	if o.Profile == "" && from.Profile != "" {
		take("--profile", &o.Profile, from.Profile)
	}
	return taken, nil
}

// fillFromSaved has options say what a saved plan was made from. The credential is sent
// to the platform that the file names, so a file that others may write to is refused.
func fillFromSaved(t *cli.Terminal, o *setup.Options, path string, saved planfile.Saved) error {
	if saved.From == nil {
		return nil
	}
	taken, err := fill(o, *saved.From, saved.Platform)
	if err != nil || len(taken) == 0 {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if setup.OthersWrite(info) {
		return cli.Fail(fmt.Errorf("%s: others may write to it (mode %04o), so it cannot be trusted to say where the credential is sent", path, info.Mode().Perm()),
			"chmod go-w "+path+", if you trust its content", "or give the flags that it was made with: "+strings.Join(taken, " "))
	}
	fmt.Fprintln(t.Err, t.Dim("the saved plan was made with"), cli.OneLine(strings.Join(taken, " ")))
	return nil
}
