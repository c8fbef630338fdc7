package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is what this binary was built from, by the Go toolchain's own record.
type Version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Sandbox  string `json:"sandbox,omitempty"` // that the machine offers to workers; empty where it was not asked for
}

// ThisVersion returns the version of this program.
func ThisVersion() Version {
	v := Version{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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

// Line is the version for people.
func (v Version) Line() string {
	text := fmt.Sprintf("seawall %s (%s, %s)\n", v.Version, v.Go, v.Platform)
	if v.Sandbox != "" {
		text += "sandbox of workers: " + v.Sandbox + "\n"
	}
	return text
}
