package setup

import (
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/sink"
)

// NewSinks makes the sinks of a configuration. Their own credentials are read
// for each delivery.
func NewSinks(configured map[string]schema.Sink) (*sink.Sinks, error) {
	configs := make(map[string]sink.Config, len(configured))
	for name, c := range configured {
		switch {
		case c.File != nil:
			configs[name] = sink.Config{File: &sink.File{Root: c.File.Root}}
		case c.Exec != nil:
			configs[name] = sink.Config{Exec: &sink.Exec{Argv: c.Exec.Argv, Timeout: c.Exec.Timeout}}
		case c.Vault != nil:
			configs[name] = sink.Config{Vault: vaultSink(*c.Vault)}
		case c.Kubernetes != nil:
			k := sink.Kubernetes(*c.Kubernetes)
			configs[name] = sink.Config{Kubernetes: &k}
		}
	}
	return sink.New(configs)
}

func vaultSink(c schema.VaultSink) *sink.Vault {
	return &sink.Vault{
		Address: c.Address, Mount: c.Mount, Prefix: c.Prefix, Field: c.Field, Namespace: c.Namespace,
		CAFile: c.CAFile, Timeout: c.Timeout, Auth: vaultAuth(c.Auth),
	}
}

func vaultAuth(c schema.VaultAuth) (a sink.VaultAuth) {
	switch {
	case c.Token != nil:
		a.Token = func() (edge.Secret, error) { return ReadToken(*c.Token) }
	case c.AppRole != nil:
		a.AppRole = &sink.AppRole{
			RoleID: c.AppRole.RoleID, Mount: c.AppRole.Mount,
			SecretID: func() (edge.Secret, error) { return ReadSecret(c.AppRole.SecretID) },
		}
	case c.Kubernetes != nil:
		a.Kubernetes = &sink.VaultKubernetes{
			Role: c.Kubernetes.Role, Mount: c.Kubernetes.Mount,
			JWT: func() (edge.Secret, error) { return secretFile(c.Kubernetes.JWTFile) },
		}
	}
	return a
}
