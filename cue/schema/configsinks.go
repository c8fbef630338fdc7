package schema

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue"
)

// checkSinks: CUE does not compare paths.
func (c *configReader) checkSinks(config *Config) {
	for _, name := range slices.Sorted(maps.Keys(config.Sinks)) {
		path, sink := cue.MakePath(cue.Str("sinks"), cue.Str(name)).String(), config.Sinks[name]
		if sink.File != nil {
			c.checkRoot(path+".file.root", sink.File.Root, config)
		}
		if sink.Vault != nil {
			c.checkURL(path+".vault.address", sink.Vault.Address, "is not a URL") // it may hold a password
		}
		if sink.Kubernetes != nil {
			c.checkKubernetes(path+".kubernetes", *sink.Kubernetes)
		}
	}
}

func (c *configReader) checkKubernetes(path string, s KubernetesSink) {
	if len(s.Namespace) > 63 {
		c.problem(path+".namespace", "must not be longer than 63 characters", "")
	}
	if s.Context != "" && s.Kubeconfig == "" {
		c.problem(path+".context", "needs a kubeconfig", "name the file that has this context")
	}
}

// checkRoot: the repository chooses the names of files below a root, so what
// Seawall itself relies on must not be there.
func (c *configReader) checkRoot(path, root string, config *Config) {
	switch key := config.Seal.KeyFile; {
	case below(root, config.StateDir), below(config.StateDir, root):
		c.problem(path, fmt.Sprintf("%q and state.dir (%s) must not contain each other", root, config.StateDir), "use a separate folder for secrets")
	case key != "" && below(key, root):
		c.problem(path, fmt.Sprintf("%q must not hold state.seal.key_file (%s)", root, key), "use a separate folder for secrets")
	}
}

// below reports whether a path is a folder or in it, as far as names tell.
func below(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
