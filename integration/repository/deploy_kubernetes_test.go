package repository

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
)

// TestDeployKustomizationIsWhole: every manifest is listed and every listed
// file is there.
func TestDeployKustomizationIsWhole(t *testing.T) {
	for _, name := range []string{"kubernetes", "kubernetes-several"} {
		wholeKustomization(t, filepath.Join(deploy, name))
	}
}

func wholeKustomization(t *testing.T, folder string) {
	t.Helper()
	kustomization := readYAML[struct {
		Resources          []string
		Patches            []struct{ Path string }
		ConfigMapGenerator []struct {
			Name  string
			Files []string
		} `yaml:"configMapGenerator"`
	}](t, filepath.Join(folder, "kustomization.yaml"))[0]

	listed := append([]string{"kustomization.yaml"}, kustomization.Resources...)
	for _, patch := range kustomization.Patches {
		listed = append(listed, patch.Path)
	}
	for _, name := range filesUnder(t, folder, ".yaml") {
		if !slices.Contains(listed, filepath.Base(name)) {
			t.Errorf("%s: kustomization.yaml does not list %s", folder, filepath.Base(name))
		}
	}
	for _, generator := range kustomization.ConfigMapGenerator {
		listed = append(listed, generator.Files...)
	}
	for _, name := range listed {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Errorf("%s: kustomization.yaml lists a file that is not there: %v", folder, err)
		}
	}
}

// deployment is what the daemon's safety in a cluster hangs on.
type deployment struct {
	Spec struct {
		Replicas int
		Strategy struct {
			Type          string
			RollingUpdate struct {
				MaxUnavailable *int `yaml:"maxUnavailable"`
				MaxSurge       *int `yaml:"maxSurge"`
			} `yaml:"rollingUpdate"`
		}
		Template struct {
			Spec struct {
				AutomountServiceAccountToken *bool          `yaml:"automountServiceAccountToken"`
				SecurityContext              map[string]any `yaml:"securityContext"`
				TopologySpreadConstraints    []struct {
					TopologyKey string `yaml:"topologyKey"`
				} `yaml:"topologySpreadConstraints"`
				Containers []container
				Volumes    []volume
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
	VolumeMounts   []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
}

type volume struct {
	Name     string
	Secret   struct{ Items []struct{ Path string } }
	EmptyDir map[string]any `yaml:"emptyDir"`
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

// TestDeploySeveralKeepNothing: what one of several pods has on its disk may vanish, none of them
// is missing while they are replaced, and none is needed to drain a node.
func TestDeploySeveralKeepNothing(t *testing.T) {
	folder := filepath.Join(deploy, "kubernetes-several")
	d := readYAML[deployment](t, filepath.Join(folder, "deployment.yaml"))[0]
	roll := d.Spec.Strategy.RollingUpdate
	var state volume
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.Name == "state" {
			state = v
		}
	}
	budget := readYAML[struct {
		Kind string
		Spec struct {
			MaxUnavailable int `yaml:"maxUnavailable"`
		}
	}](t, filepath.Join(folder, "disruption.yaml"))[0]
	claim := readYAML[map[string]any](t, filepath.Join(folder, "storage.yaml"))[0]
	for what, ok := range map[string]bool{
		"three replicas":                   d.Spec.Replicas == 3,
		"strategy RollingUpdate":           d.Spec.Strategy.Type == "RollingUpdate",
		"no gap while they are replaced":   roll.MaxUnavailable != nil && *roll.MaxUnavailable == 0 && roll.MaxSurge != nil && *roll.MaxSurge > 0,
		"spread over nodes and zones":      len(d.Spec.Template.Spec.TopologySpreadConstraints) == 2,
		"a state that may vanish":          state.EmptyDir != nil,
		"no claim of a volume":             claim["$patch"] == "delete",
		"one at a time when nodes drain":   budget.Kind == "PodDisruptionBudget" && budget.Spec.MaxUnavailable == 1,
		"no probe other than that of one":  len(d.Spec.Template.Spec.Containers) == 0,
		"a state in the database of three": strings.Contains(harness.ReadText(t, filepath.Join(folder, "config.cue")), "\tpostgres: {"),
	} {
		if !ok {
			t.Errorf("deploy/kubernetes-several: missing: %s", what)
		}
	}
}

// mountedCredentials returns the paths at which the container finds the files of
// the Secret, sorted. The volume is that of a folder of deploy.
func mountedCredentials(t *testing.T, folder string) []string {
	t.Helper()
	pod := readYAML[deployment](t, filepath.Join(deploy, "kubernetes", "deployment.yaml"))[0].Spec.Template.Spec
	volumes := readYAML[deployment](t, filepath.Join(deploy, folder, "deployment.yaml"))[0].Spec.Template.Spec.Volumes
	var paths []string
	for _, v := range volumes {
		for _, m := range pod.Containers[0].VolumeMounts {
			for _, item := range v.Secret.Items {
				if m.Name == v.Name {
					paths = append(paths, path.Join(m.MountPath, item.Path))
				}
			}
		}
	}
	slices.Sort(paths)
	return paths
}

func hasMember(object any, name string, value any) bool {
	m, ok := object.(map[string]any)
	return ok && m[name] == value
}
