package integration

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var deploy = filepath.Join(root, "deploy")

// TestDeployYAMLParses reads every document of every YAML file under deploy/.
func TestDeployYAMLParses(t *testing.T) {
	files := filesUnder(t, deploy, ".yaml")
	if len(files) < 9 {
		t.Fatalf("found %d YAML files under deploy/: %v", len(files), files)
	}
	for _, name := range files {
		for _, document := range readYAML[map[string]any](t, name) {
			if len(document) == 0 {
				t.Errorf("%s holds an empty document", name)
			}
		}
	}
}

// TestDeployKustomizationIsWhole: every manifest is listed and every listed
// file is there.
func TestDeployKustomizationIsWhole(t *testing.T) {
	folder := filepath.Join(deploy, "kubernetes")
	kustomization := readYAML[struct {
		Resources          []string
		ConfigMapGenerator []struct {
			Name  string
			Files []string
		} `yaml:"configMapGenerator"`
	}](t, filepath.Join(folder, "kustomization.yaml"))[0]

	listed := append([]string{"kustomization.yaml"}, kustomization.Resources...)
	for _, name := range filesUnder(t, folder, ".yaml") {
		if !slices.Contains(listed, filepath.Base(name)) {
			t.Errorf("kustomization.yaml does not list %s", filepath.Base(name))
		}
	}
	for _, generator := range kustomization.ConfigMapGenerator {
		listed = append(listed, generator.Files...)
	}
	for _, name := range listed {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Errorf("kustomization.yaml lists a file that is not there: %v", err)
		}
	}
}

// deployment is what the daemon's safety in a cluster hangs on.
type deployment struct {
	Spec struct {
		Replicas int
		Strategy struct{ Type string }
		Template struct {
			Spec struct {
				AutomountServiceAccountToken *bool          `yaml:"automountServiceAccountToken"`
				SecurityContext              map[string]any `yaml:"securityContext"`
				Containers                   []container
				Volumes                      []struct {
					Name                  string
					Secret, ConfigMap     map[string]any
					PersistentVolumeClaim map[string]any `yaml:"persistentVolumeClaim"`
				}
			}
		}
	}
}

type container struct {
	Args            []string
	Env, EnvFrom    []any
	SecurityContext struct {
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct{ Drop []string }
	} `yaml:"securityContext"`
	LivenessProbe  probe `yaml:"livenessProbe"`
	ReadinessProbe probe `yaml:"readinessProbe"`
	Ports          []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

func TestDeployKubernetesIsRestricted(t *testing.T) {
	d := readYAML[deployment](t, filepath.Join(deploy, "kubernetes", "deployment.yaml"))[0]
	pod := d.Spec.Template.Spec
	if len(pod.Containers) != 1 || len(pod.Containers[0].Ports) != 1 {
		t.Fatalf("want one container with one port: %+v", pod.Containers)
	}
	c := pod.Containers[0]
	for what, ok := range map[string]bool{
		"one replica":                       d.Spec.Replicas == 1,
		"strategy Recreate":                 d.Spec.Strategy.Type == "Recreate",
		"no service account token":          pod.AutomountServiceAccountToken != nil && !*pod.AutomountServiceAccountToken,
		"not root":                          pod.SecurityContext["runAsNonRoot"] == true,
		"default seccomp profile":           hasMember(pod.SecurityContext["seccompProfile"], "type", "RuntimeDefault"),
		"no privilege escalation":           c.SecurityContext.AllowPrivilegeEscalation != nil && !*c.SecurityContext.AllowPrivilegeEscalation,
		"read-only root file system":        c.SecurityContext.ReadOnlyRootFilesystem,
		"no capability":                     slices.Equal(c.SecurityContext.Capabilities.Drop, []string{"ALL"}),
		"liveness by /healthz":              c.LivenessProbe.HTTPGet == struct{ Path, Port string }{"/healthz", "http"},
		"readiness by /readyz":              c.ReadinessProbe.HTTPGet == struct{ Path, Port string }{"/readyz", "http"},
		"port 8710":                         c.Ports[0].Name == "http" && c.Ports[0].ContainerPort == 8710,
		"no credential in the environment":  len(c.Env) == 0 && len(c.EnvFrom) == 0,
		"credentials, config, state, a tmp": len(pod.Volumes) == 4,
	} {
		if !ok {
			t.Errorf("deploy/kubernetes/deployment.yaml: missing: %s", what)
		}
	}
}

func hasMember(object any, name string, value any) bool {
	m, ok := object.(map[string]any)
	return ok && m[name] == value
}

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
	"MemoryMax":               "4G",
	"LimitCORE":               "0",
	"SystemCallArchitectures": "native",
	"KillSignal":              "SIGTERM",
	"KillMode":                "mixed",
	"TimeoutStopSec":          "90",
	"ExecReload":              "/bin/kill -HUP $MAINPID",
}

func TestDeployUnitIsHardened(t *testing.T) {
	service := readUnit(t)
	for key, want := range hardening {
		if got := service[key]; !slices.Equal(got, []string{want}) {
			t.Errorf("seawall.service: %s is %q, want %q once", key, got, want)
		}
	}
	if filter := service["SystemCallFilter"]; len(filter) != 2 || filter[0] != "@system-service" || !strings.HasPrefix(filter[1], "~@privileged") {
		t.Errorf("seawall.service: SystemCallFilter is %q", filter)
	}
}

// TestDeployUnitHandsOverCredentials: each {systemd: "…"} of the sample has its
// LoadCredential= and the other way round.
func TestDeployUnitHandsOverCredentials(t *testing.T) {
	var loaded, wanted []string
	for _, value := range readUnit(t)["LoadCredential"] {
		name, _, _ := strings.Cut(value, ":")
		loaded = append(loaded, name)
	}
	config := readText(t, filepath.Join(deploy, "systemd", "config.cue"))
	for _, m := range regexp.MustCompile(`(?m)^[^/\n]*systemd: "([^"]+)"`).FindAllStringSubmatch(config, -1) {
		wanted = append(wanted, m[1])
	}
	slices.Sort(loaded)
	slices.Sort(wanted)
	if len(wanted) == 0 || !slices.Equal(loaded, wanted) {
		t.Errorf("the unit hands over %q, config.cue asks for %q", loaded, wanted)
	}
}

// TestDeployBuildsWithTheGoOfTheModule keeps the image and the recipes at the
// version go.mod asks for.
func TestDeployBuildsWithTheGoOfTheModule(t *testing.T) {
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readText(t, filepath.Join(root, "go.mod")))[1]
	for name, want := range map[string]string{
		"container/Dockerfile": "FROM golang:" + version + " AS build\n",
		"ci/github.yaml":       `go-version: "` + version + `"`,
		"ci/forgejo.yaml":      `go-version: "` + version + `"`,
		"ci/gitlab.yaml":       "image: golang:" + version + "\n",
	} {
		if !strings.Contains(readText(t, filepath.Join(deploy, name)), want) {
			t.Errorf("deploy/%s does not say %q", name, want)
		}
	}
}

// TestDeployImageIsNotRoot looks at the last stage of the image.
func TestDeployImageIsNotRoot(t *testing.T) {
	text := readText(t, filepath.Join(deploy, "container", "Dockerfile"))
	last := text[strings.LastIndex(text, "\nFROM "):]
	for _, want := range []string{"FROM gcr.io/distroless/static-", "\nUSER 65532:65532\n", "\nSTOPSIGNAL SIGTERM\n", "\nEXPOSE 8710\n"} {
		if !strings.Contains(last, want) {
			t.Errorf("the last stage of the image does not say %q", want)
		}
	}
}

// readUnit returns the settings of the unit's [Service] section; a setting may
// be given more than once.
func readUnit(t *testing.T) map[string][]string {
	t.Helper()
	_, section, ok := strings.Cut(readText(t, filepath.Join(deploy, "systemd", "seawall.service")), "\n[Service]\n")
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

func filesUnder(t *testing.T, folder, extension string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(name) == extension {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// readYAML decodes every document of a file.
func readYAML[T any](t *testing.T, name string) []T {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(readText(t, name))))
	var documents []T
	for {
		var document T
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) && len(documents) > 0 {
			return documents
		}
		if err != nil {
			t.Fatalf("reading %s: %v", name, err)
		}
		documents = append(documents, document)
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
