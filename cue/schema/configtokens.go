package schema

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue"
)

// checkSeal: a message about a text that does not fit #Seal would repeat it, and
// what stands there by mistake may be a secret key.
func (c *configReader) checkSeal(config *Config) {
	if !at(c.plain, "state.seal").Exists() {
		return
	}
	seal := config.Seal
	c.exactlyOne("state.seal", []string{"key_file", "recipient"}, []bool{seal.KeyFile != "", seal.Recipient != ""})
	switch {
	case strings.HasPrefix(strings.ToUpper(seal.Recipient), "AGE-SECRET-KEY-"):
		c.problem("state.seal.recipient", "this is a secret key, not a recipient", "put it into a file of mode 0600, name that as key_file, and make sure nobody has read it here")
	case seal.Recipient != "" && !strings.HasPrefix(seal.Recipient, "age1"):
		c.problem("state.seal.recipient", "is not a recipient of age", "age-keygen -y KEYFILE prints the recipient of a key: age1…")
	}
}

// checkSinks: CUE does not compare paths and durations, and matchN names none of
// the fields it counts.
func (c *configReader) checkSinks(config *Config) {
	for _, name := range slices.Sorted(maps.Keys(config.Sinks)) {
		path, sink := cue.MakePath(cue.Str("sinks"), cue.Str(name)).String(), config.Sinks[name]
		c.exactlyOne(path, []string{"file", "exec"}, []bool{sink.File != nil, sink.Exec != nil})
		if sink.Exec != nil && sink.Exec.Timeout <= 0 {
			c.problem(path+".exec.timeout", fmt.Sprintf("%q is not a length of time above zero", sink.Exec.Timeout), "")
		}
		if sink.File != nil {
			c.checkRoot(path+".file.root", sink.File.Root, config)
		}
	}
}

// checkRoot: the repository chooses the names of files below a root, so what
// Seawall itself relies on must not be there.
func (c *configReader) checkRoot(path, root string, config *Config) {
	switch key := config.Seal.KeyFile; {
	case below(root, config.StateDir), below(config.StateDir, root):
		c.problem(path, fmt.Sprintf("%q and state.dir (%s) must not be one in the other", root, config.StateDir), "give secrets a folder of their own")
	case key != "" && below(key, root):
		c.problem(path, fmt.Sprintf("%q must not hold state.seal.key_file (%s)", root, key), "give secrets a folder of their own")
	}
}

// below reports whether a path is a folder or in it, as far as names tell.
func below(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
