package sink

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/edge/outbound"
)

// Vault keeps each secret in HashiCorp Vault or OpenBao, in a secrets engine of
// type KV, version 2, at Mount/data/Prefix/KEY. Other fields at that path stay as
// they are. The credential needs read, create, update and patch there. Nothing in
// the environment (VAULT_ADDR and the like) counts.
type Vault struct {
	Address   string // https, or http to this machine
	Mount     string // of the engine; "" is "secret"
	Prefix    string // keys are below it
	Field     string // holds the secret; "" is "token"
	Namespace string // "" where the server has none
	CAFile    string // PEM, absolute; "" for the system's authorities. Read for each delivery
	Timeout   time.Duration
	Auth      VaultAuth
}

// VaultAuth is how Seawall shows who it is: exactly one field is set. Secrets
// are read for each delivery.
type VaultAuth struct {
	Token      func() (edge.Secret, error)
	AppRole    *AppRole
	Kubernetes *VaultKubernetes
}

// AppRole is a login with Vault's method AppRole.
type AppRole struct {
	RoleID   string
	SecretID func() (edge.Secret, error)
	Mount    string // of the method; "" is "approle"
}

// VaultKubernetes is a login with Vault's method Kubernetes.
type VaultKubernetes struct {
	Role  string
	JWT   func() (edge.Secret, error) // the token of the service account
	Mount string                      // of the method; "" is "kubernetes"
}

// vault is the sink of kind vault.
type vault struct{ Vault }

func newVault(c Vault) (place, error) {
	c.Mount, c.Field = cmp.Or(c.Mount, "secret"), cmp.Or(c.Field, "token")
	_, err := outbound.Address(c.Address)
	if err != nil {
		return nil, err
	}
	if c.Timeout, err = soundTimeout(c.Timeout); err != nil {
		return nil, err
	}
	for _, part := range []string{c.Mount, c.Prefix} {
		if err := soundVaultPath(part); err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
	}
	if c.CAFile != "" && !path.IsAbs(c.CAFile) {
		return nil, fmt.Errorf("the file %q must be an absolute path", c.CAFile)
	}
	return server{vault{c}, c.Timeout}, c.Auth.check()
}

// check also fills in what is left out.
func (a *VaultAuth) check() error {
	switch {
	case count(a.Token != nil, a.AppRole != nil, a.Kubernetes != nil) != 1:
		return errors.New("auth must be exactly one of token, approle and kubernetes")
	case a.AppRole != nil:
		if a.AppRole.RoleID == "" || a.AppRole.SecretID == nil {
			return errors.New("approle needs a role and a secret")
		}
		return soundVaultPath(cmp.Or(a.AppRole.Mount, "approle"))
	case a.Kubernetes != nil:
		if a.Kubernetes.Role == "" || a.Kubernetes.JWT == nil {
			return errors.New("kubernetes needs a role and a token")
		}
		return soundVaultPath(cmp.Or(a.Kubernetes.Mount, "kubernetes"))
	}
	return nil
}

// vaultPath is narrower than what Vault takes. Its paths are written into
// policies, where + and * are wildcards, and travel in addresses, where % and ?
// mean something else than themselves.
var vaultPath = lazyregexp.New(`^[A-Za-z0-9._~@:=,-]+(/[A-Za-z0-9._~@:=,-]+)*$`)

// maxVaultPath is below the shortest bound of Vault's storages, Consul's 512.
const maxVaultPath = 400

func soundVaultPath(p string) error {
	switch {
	case soundKey(p) != nil:
		return soundKey(p)
	case len(p) > maxVaultPath:
		return fmt.Errorf("it has %d bytes; a path in Vault has %d at most here", len(p), maxVaultPath)
	case !vaultPath().MatchString(p):
		return errors.New("a path in Vault may contain only letters, digits and . _ ~ @ : = , -")
	}
	return nil
}

func (v vault) check(key string) error { return soundVaultPath(v.Prefix + "/" + key) }
