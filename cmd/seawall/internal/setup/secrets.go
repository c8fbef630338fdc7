package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge"
)

// The variables that stand in for configured credentials.
const (
	EnvRulesetsToken = "SEAWALL_RULESETS_TOKEN"
	EnvTokensToken   = "SEAWALL_TOKENS_TOKEN"
)

// ReadSecret reads a secret from where the configuration says it is, anew each
// time, so that a rotated one is picked up. One newline at its end is not part
// of it.
func ReadSecret(ref schema.SecretRef) (edge.Secret, error) { return readAs(ref, edge.NewSecret) }

// ReadAddress is ReadSecret for the address of another service, in which the host is none.
func ReadAddress(ref schema.SecretRef) (edge.Secret, error) { return readAs(ref, edge.NewAddress) }

func readAs(ref schema.SecretRef, wrap func(string) edge.Secret) (edge.Secret, error) {
	switch {
	case ref.Env != "":
		value := os.Getenv(ref.Env)
		if value == "" {
			return edge.Secret{}, fmt.Errorf("environment variable %s is not set", ref.Env)
		}
		return wrap(value), nil
	case ref.Systemd != "":
		dir := os.Getenv("CREDENTIALS_DIRECTORY")
		if dir == "" {
			return edge.Secret{}, cli.Fail(errors.New("systemd credential "+ref.Systemd+": CREDENTIALS_DIRECTORY is not set"), systemdHint(ref.Systemd))
		}
		return secretFileAs(filepath.Join(dir, ref.Systemd), wrap)
	}
	return secretFileAs(ref.File, wrap)
}

// systemdHint says why a process has no credentials of a unit. systemd sets INVOCATION_ID
// for whatever it starts as a service.
func systemdHint(name string) string {
	if os.Getenv("INVOCATION_ID") == "" {
		return "systemd gives credentials only to the service, not to a shell: run the command as the service runs, with systemd-run and " +
			"LoadCredential=" + name + ":/path/of/the/secret (deploy/README.md has the whole command)"
	}
	return "add LoadCredential=" + name + ":/path/of/the/secret to the unit"
}

// ReadToken reads a token of the platform. One that cannot stand in a header is
// refused here, before a run takes it for the trouble of every single zone.
func ReadToken(ref schema.SecretRef) (edge.Secret, error) {
	token, err := ReadSecret(ref)
	if err != nil {
		return edge.Secret{}, err
	}
	for _, b := range []byte(token.Reveal()) {
		if b <= ' ' || b > '~' {
			return edge.Secret{}, cli.Fail(errors.New("it contains white space or other characters that a token cannot contain"), "write only the token, on one line")
		}
	}
	return token, nil
}

// recentFor is for how long a secret that was read need not be read again.
const recentFor = time.Second

// recently reads a secret at most once in a while, for who asks with each request. A
// failure is not kept.
func recently(read func() (edge.Secret, error)) func() (edge.Secret, error) {
	var mu sync.Mutex
	var kept edge.Secret
	var at time.Time
	return func() (edge.Secret, error) {
		mu.Lock()
		defer mu.Unlock()
		if !at.IsZero() && time.Since(at) < recentFor {
			return kept, nil
		}
		secret, err := read()
		if err != nil {
			kept, at = edge.Secret{}, time.Time{}
			return secret, err
		}
		kept, at = secret, time.Now()
		return kept, nil
	}
}

// maxSecret bounds the file of a secret, in bytes; the largest are private keys.
const maxSecret = 64 << 10

func secretFile(path string) (edge.Secret, error) { return secretFileAs(path, edge.NewSecret) }

func secretFileAs(path string, wrap func(string) edge.Secret) (edge.Secret, error) {
	data, err := trusted.ReadSmall(path, maxSecret)
	if errors.Is(err, fs.ErrPermission) {
		return edge.Secret{}, cli.Fail(fmt.Errorf("reading a secret: %w", err), "only the user of the daemon may read it: run the command as that user, with sudo -u USER")
	}
	if err != nil {
		return edge.Secret{}, fmt.Errorf("reading a secret: %w", err)
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if strings.TrimSpace(value) == "" {
		return edge.Secret{}, fmt.Errorf("reading a secret: %s is empty", path)
	}
	return wrap(value), nil
}
