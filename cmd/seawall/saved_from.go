package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seawall-dev/seawall/diff"
)

// savedFrom notes what flags and environment say of where a plan comes from.
func savedFrom(o options) *diff.SavedFrom {
	from := &diff.SavedFrom{Dir: savedPath(o.dir), BaseURL: o.baseURL != ""}
	from.Config = savedPath(o.configFile())
	return from
}

func savedPath(given string) diff.SavedPath {
	if given == "" {
		return diff.SavedPath{}
	}
	absolute, err := filepath.Abs(given)
	if err != nil { // the current folder is gone
		absolute = given
	}
	return diff.SavedPath{Given: given, Absolute: absolute}
}

// samePath reports whether a flag names what a plan was made from. The same relative
// path counts too: a job that applies has another working copy than the one that plans.
func samePath(flag string, saved diff.SavedPath) bool {
	return flag == saved.Given || savedPath(flag).Absolute == saved.Absolute
}

// contradicts reports a flag that says otherwise than what a plan was made from.
func (o *options) contradicts(from diff.SavedFrom) error {
	const hint = "leave out the flag, the saved plan records it; or make a new plan"
	for _, path := range []struct {
		flag, given string
		saved       diff.SavedPath
		none        string
	}{
		{"--dir", o.dir, from.Dir, "from git"},
		{"--config", o.config, from.Config, "without a configuration"},
	} {
		switch {
		case path.given == "", samePath(path.given, path.saved):
		case path.saved.Given == "":
			return fail(fmt.Errorf("%s %s contradicts the plan, which was made %s", path.flag, path.given, path.none), hint)
		default:
			return fail(fmt.Errorf("%s %s contradicts the plan, which was made with %s", path.flag, path.given, path.saved.Absolute), hint)
		}
	}
	return nil
}

// fill takes what the command line leaves out from what a plan was made from, and says
// what it took, as flags. What the command line says otherwise is an error.
func (o *options) fill(from diff.SavedFrom, platform string) (taken []string, err error) {
	if err := o.contradicts(from); err != nil {
		return nil, err
	}
	if o.dir == "" && from.Dir.Given != "" {
		o.dir = from.Dir.Absolute
		taken = append(taken, "--dir "+o.dir)
	}
	if o.config == "" && from.Config.Given != "" && os.Getenv("SEAWALL_CONFIG") == "" && from.Config.Absolute != defaultConfig {
		o.config = from.Config.Absolute
		taken = append(taken, "--config "+o.config)
	}
	if o.baseURL == "" && from.BaseURL {
		o.baseURL = platform
		taken = append(taken, "--base-url "+o.baseURL)
	}
	return taken, nil
}

// fillFromSaved has options say what a saved plan was made from. The credential is sent
// to the platform that the file names, so a file that others may write to is refused.
func fillFromSaved(t *terminal, o *options, path string, saved diff.Saved) error {
	if saved.From == nil {
		return nil
	}
	taken, err := o.fill(*saved.From, saved.Platform)
	if err != nil || len(taken) == 0 {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if othersWrite(info) {
		return fail(fmt.Errorf("%s: others may write to it (mode %04o), so it cannot be trusted to say where the credential is sent", path, info.Mode().Perm()),
			"chmod go-w "+path+", if you trust its content", "or give the flags that it was made with: "+strings.Join(taken, " "))
	}
	fmt.Fprintln(t.err, t.dim("the saved plan was made with"), oneLine(strings.Join(taken, " ")))
	return nil
}
