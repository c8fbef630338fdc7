package schema

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cuelang.org/go/cue"
)

// sinks reads the sinks; nil where there is none.
func sinks(v cue.Value) map[string]Sink {
	var sinks map[string]Sink
	fields, _ := at(v, "sinks").Fields() // validated: a struct
	for fields.Next() {
		if sinks == nil {
			sinks = map[string]Sink{}
		}
		sinks[fields.Selector().Unquoted()] = sink(v, "sinks."+fields.Selector().String())
	}
	return sinks
}

func sink(v cue.Value, path string) (s Sink) {
	if at(v, path+".file").Exists() {
		s.File = &FileSink{text(v, path+".file.root")}
	}
	if at(v, path+".exec").Exists() {
		s.Exec = &ExecSink{Timeout: duration(v, path+".exec.timeout")}
		_ = at(v, path+".exec.argv").Decode(&s.Exec.Argv) // validated: a list of texts
	}
	if path := path + ".vault"; at(v, path).Exists() {
		s.Vault = vault(v, path)
	}
	if path := path + ".kubernetes"; at(v, path).Exists() {
		s.Kubernetes = &KubernetesSink{
			Namespace:  text(v, path+".namespace"),
			Kubeconfig: text(v, path+".kubeconfig"),
			Context:    text(v, path+".context"),
			Timeout:    duration(v, path+".timeout"),
		}
	}
	return s
}

func vault(v cue.Value, path string) *VaultSink {
	s := &VaultSink{
		Address:   text(v, path+".address"),
		Mount:     text(v, path+".mount"),
		Prefix:    text(v, path+".prefix"),
		Field:     text(v, path+".field"),
		Namespace: text(v, path+".namespace"),
		CAFile:    text(v, path+".ca_file"),
		Timeout:   duration(v, path+".timeout"),
	}
	path += ".auth"
	s.Auth.Token = optionalSecret(v, path+".token")
	if path := path + ".approle"; at(v, path).Exists() {
		s.Auth.AppRole = &AppRole{text(v, path+".role_id"), secret(v, path+".secret_id"), text(v, path+".mount")}
	}
	if path := path + ".kubernetes"; at(v, path).Exists() {
		s.Auth.Kubernetes = &VaultKubernetes{text(v, path+".role"), text(v, path+".mount"), text(v, path+".jwt_file")}
	}
	return s
}

func duration(v cue.Value, path string) time.Duration {
	d, _ := time.ParseDuration(text(v, path)) // the schema holds the form
	return d
}

// checkSinks: CUE does not compare paths and durations.
func (c *configReader) checkSinks(config *Config) {
	for _, name := range slices.Sorted(maps.Keys(config.Sinks)) {
		path, sink := cue.MakePath(cue.Str("sinks"), cue.Str(name)).String(), config.Sinks[name]
		if sink.File != nil {
			c.checkRoot(path+".file.root", sink.File.Root, config)
		}
		if sink.Exec != nil {
			c.checkTimeout(path+".exec.timeout", sink.Exec.Timeout)
		}
		if sink.Vault != nil {
			c.checkVault(path+".vault", *sink.Vault)
		}
		if sink.Kubernetes != nil {
			c.checkKubernetes(path+".kubernetes", *sink.Kubernetes)
		}
	}
}

func (c *configReader) checkTimeout(path string, timeout time.Duration) {
	if timeout <= 0 {
		c.problem(path, fmt.Sprintf("%q is not a duration above zero", timeout), "")
	}
}

func (c *configReader) checkVault(path string, s VaultSink) {
	c.checkTimeout(path+".timeout", s.Timeout)
	if u, err := url.Parse(s.Address); err != nil || u.Host == "" {
		c.problem(path+".address", "is not a URL", "") // it may hold a password
	} else if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		c.problem(path+".address", "must have neither user, query nor fragment", "")
	}
}

func (c *configReader) checkKubernetes(path string, s KubernetesSink) {
	c.checkTimeout(path+".timeout", s.Timeout)
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
