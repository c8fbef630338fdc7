package repository

import (
	"net"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/integration/harness"
)

// readConfig reads a sample configuration as the daemon would.
func readConfig(t *testing.T, folder string) schema.Config {
	t.Helper()
	name := filepath.Join(deploy, folder, "config.cue")
	config, problems := schema.LoadConfig(name, []byte(harness.ReadText(t, name)))
	for _, p := range problems {
		t.Error(p)
	}
	return config
}

// TestDeployConfigsFitTheirPlace: the samples are valid without a warning, and
// say what the unit and the manifests around them rely on.
func TestDeployConfigsFitTheirPlace(t *testing.T) {
	systemd, kubernetes := readConfig(t, "systemd"), readConfig(t, "kubernetes")
	for name, config := range map[string]schema.Config{"systemd": systemd, "kubernetes": kubernetes} {
		if config.StateDir != "/var/lib/seawall" {
			t.Errorf("%s: the state is kept in %q", name, config.StateDir)
		}
		if _, port, err := net.SplitHostPort(config.Listen); err != nil || port != "8710" {
			t.Errorf("%s: the daemon listens on %q", name, config.Listen)
		}
	}
	if host, _, _ := net.SplitHostPort(systemd.Listen); host != "127.0.0.1" {
		t.Errorf("systemd: the daemon listens on %q, beyond the machine", systemd.Listen)
	}
	if host, _, _ := net.SplitHostPort(kubernetes.Listen); host != "0.0.0.0" {
		t.Errorf("kubernetes: the daemon listens on %q, which no probe reaches", kubernetes.Listen)
	}
}

// TestDeployCredentialsAreHandedOver: what a sample reads is what the unit loads
// or the manifest mounts, no more and no less.
func TestDeployCredentialsAreHandedOver(t *testing.T) {
	systemd := readConfig(t, "systemd")
	if got, want := secrets(systemd, func(s schema.SecretRef) string { return s.Systemd }), loadedCredentials(t); !slices.Equal(got, want) {
		t.Errorf("config.cue asks for %q, the unit hands over %q", got, want)
	}
	kubernetes := readConfig(t, "kubernetes")
	if got, want := secrets(kubernetes, func(s schema.SecretRef) string { return s.File }), mountedCredentials(t, "kubernetes"); !slices.Equal(got, want) {
		t.Errorf("config.cue asks for %q, the deployment mounts %q", got, want)
	}
}

// secrets returns the sorted places of a sample's two secrets: the token for
// git, and the one for rulesets.
func secrets(c schema.Config, place func(schema.SecretRef) string) []string {
	found := []string{place(c.Credentials.Rulesets)}
	if c.Source.Auth.Token != nil {
		found = append(found, place(*c.Source.Auth.Token))
	}
	slices.Sort(found)
	return found
}
