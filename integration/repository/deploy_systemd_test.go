package repository

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
)

// hardening is what the unit must say, whatever else it says.
var hardening = map[string]string{
	"DynamicUser":             "yes",
	"StateDirectory":          "seawall",
	"ProtectSystem":           "strict",
	"ProtectHome":             "yes",
	"PrivateTmp":              "yes",
	"PrivateDevices":          "yes",
	"NoNewPrivileges":         "yes",
	"CapabilityBoundingSet":   "",
	"RestrictNamespaces":      "yes",
	"RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
	"MemoryDenyWriteExecute":  "yes",
	"MemoryMax":               "6G",
	"OOMPolicy":               "continue",
	"LimitCORE":               "0",
	"SystemCallArchitectures": "native",
	"KillSignal":              "SIGTERM",
	"KillMode":                "mixed",
	"TimeoutStopSec":          "90",
	"WatchdogSec":             "300",
}

func TestDeployUnitIsHardened(t *testing.T) {
	service := readUnit(t)
	for key, want := range hardening {
		if got := service[key]; !slices.Equal(got, []string{want}) {
			t.Errorf("seawall.service: %s is %q, want %q once", key, got, want)
		}
	}
	if kind := service["Type"]; !slices.Equal(kind, []string{"notify", "notify-reload"}) {
		t.Errorf("seawall.service: Type is %q", kind)
	}
	if filter := service["SystemCallFilter"]; len(filter) != 3 || filter[0] != "@system-service" || !strings.HasPrefix(filter[1], "landlock_") || !strings.HasPrefix(filter[2], "~@privileged") {
		t.Errorf("seawall.service: SystemCallFilter is %q", filter)
	}
}

// TestDeployMemoryIsTheSame: whatever runs the daemon limits it to the memory that
// docs/configuration.md explains.
func TestDeployMemoryIsTheSame(t *testing.T) {
	gib := strings.TrimSuffix(hardening["MemoryMax"], "G")
	for file, want := range map[string]string{
		"deploy/kubernetes/deployment.yaml": "limits:\n              memory: " + gib + "Gi\n",
		"deploy/helm/seawall/values.yaml":   "limits:\n    memory: " + gib + "Gi\n",
		"deploy/README.md":                  " --memory " + gib + "g ",
		"docs/configuration.md":             "| " + gib + " GiB (as in `deploy/`) |",
	} {
		if !strings.Contains(harness.ReadText(t, filepath.Join(harness.Root, file)), want) {
			t.Errorf("%s does not have %q, as the unit has MemoryMax=%sG", file, want, gib)
		}
	}
	if text := harness.ReadText(t, filepath.Join(deploy, "README.md")); !strings.Contains(text, "to "+gib+" GiB") {
		t.Errorf("deploy/README.md does not say %s GiB", gib)
	}
}

// loadedCredentials returns the names of the unit's LoadCredential=, sorted.
func loadedCredentials(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, value := range readUnit(t)["LoadCredential"] {
		name, _, _ := strings.Cut(value, ":")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// readUnit returns the settings of the unit's [Service] section; a setting may
// be given more than once.
func readUnit(t *testing.T) map[string][]string {
	t.Helper()
	_, section, ok := strings.Cut(harness.ReadText(t, filepath.Join(deploy, "systemd", "seawall.service")), "\n[Service]\n")
	if !ok {
		t.Fatal("seawall.service has no [Service] section")
	}
	settings := map[string][]string{}
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			break
		}
		if key, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			settings[key] = append(settings[key], value)
		}
	}
	return settings
}
