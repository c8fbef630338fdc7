package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is what this binary was built from, by the Go toolchain's own record.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
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
	return fmt.Sprintf("seawall %s (%s, %s)\n", v.Version, v.Go, v.Platform)
}

func newVersion(t *terminal) *cobra.Command {
	var output string
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
			if output == "json" {
				return json.NewEncoder(t.out).Encode(v)
			}
			_, err := fmt.Fprint(t.out, v.line())
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}
