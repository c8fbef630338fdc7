package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/desired/worker/sandbox"
)

// version is what this binary was built from, by the Go toolchain's own record.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Sandbox  string `json:"sandbox,omitempty"` // asked for with --verbose
}

func thisVersion() version {
	v := version{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// line is the version for people.
func (v version) line() string {
	text := fmt.Sprintf("seawall %s (%s, %s)\n", v.Version, v.Go, v.Platform)
	if v.Sandbox != "" {
		text += "sandbox of workers: " + v.Sandbox + "\n"
	}
	return text
}

func newVersion(t *terminal) *cobra.Command {
	var output string
	var verbose bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  seawall version\n  seawall version -o json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("--output", output, "text", "json"); err != nil {
				return err
			}
			v := thisVersion()
			if verbose {
				v.Sandbox = sandbox.Here().String()
				if missing := sandbox.Here().Missing(); len(missing) > 0 {
					v.Sandbox += "; missing: " + strings.Join(missing, ", ")
				}
			}
			if output == "json" {
				return json.NewEncoder(t.out).Encode(v)
			}
			_, err := fmt.Fprint(t.out, v.line())
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "also print the sandbox that this machine offers to workers")
	return cmd
}
