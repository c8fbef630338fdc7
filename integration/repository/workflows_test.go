package repository

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/seawall-dev/seawall/integration/harness"
)

// githubWorkflow is what the tests look at in a file of .github/workflows.
type githubWorkflow struct {
	Permissions map[string]string `yaml:"permissions"`
	Concurrency map[string]string `yaml:"concurrency"`
	Env         map[string]string `yaml:"env"`
	Jobs        map[string]struct {
		Timeout     int               `yaml:"timeout-minutes"`
		Permissions map[string]string `yaml:"permissions"`
		Steps       []githubStep      `yaml:"steps"`
	} `yaml:"jobs"`
}

type githubStep struct {
	Uses string            `yaml:"uses"`
	Run  string            `yaml:"run"`
	With map[string]string `yaml:"with"`
}

// gitlabJob is what the tests look at in a job of .gitlab-ci.yml.
type gitlabJob struct {
	Timeout string   `yaml:"timeout"`
	Script  []string `yaml:"script"`
}

var (
	makeTarget    = regexp.MustCompile(`(?m)^([a-z-]+):`)
	makeCall      = regexp.MustCompile(`^make((?: [a-z-]+)+)((?: [A-Z]+=[\w.]+)*)$`)
	pinnedAction  = regexp.MustCompile(`^ *(?:- )?uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	moduleVersion = regexp.MustCompile(`(?m)^go (\d+\.\d+)`)
)

// TestWorkflowsCallMake: what CI does can be done on any machine in the same way.
func TestWorkflowsCallMake(t *testing.T) {
	targets := makeTargets(t)
	for name, workflow := range githubWorkflows(t) {
		for id, job := range workflow.Jobs {
			calls := 0
			for _, step := range job.Steps {
				if step.Run != "" {
					checkMakeCall(t, name+": "+id, step.Run, targets)
					calls++
				}
			}
			if calls == 0 {
				t.Errorf("%s: job %s runs nothing", name, id)
			}
		}
	}
	for id, job := range gitlabJobs(t) {
		for _, line := range job.Script {
			checkMakeCall(t, ".gitlab-ci.yml: "+id, line, targets)
		}
	}
}

// TestMakeCallIsRecognized keeps the search from accepting anything.
func TestMakeCallIsRecognized(t *testing.T) {
	for _, call := range []string{"make check", "make tools check", "make fuzz FUZZTIME=3s"} {
		if !makeCall.MatchString(call) {
			t.Errorf("%q is not recognized", call)
		}
	}
	for _, call := range []string{"make", "go test ./...", "make check; rm -r x", "make check\ngo vet", "make check || true", "make fuzz X=$(id)"} {
		if makeCall.MatchString(call) {
			t.Errorf("%q is accepted", call)
		}
	}
	if targets := makeTargets(t); !targets["check"] || targets["nothing"] || targets["PHONY"] {
		t.Errorf("targets of the Makefile: %v", targets)
	}
}

// granted are the permissions of the jobs that write, beside reading the repository.
var granted = map[string]map[string]string{
	"release.yaml release": {"contents": "write", "id-token": "write", "attestations": "write"},
	"release.yaml image":   {"contents": "read", "packages": "write", "id-token": "write", "attestations": "write"},
}

// TestWorkflowsAreBounded: each job has a timeout, a run replaces or waits for the run
// before, and only the jobs that create a release and its image may write.
func TestWorkflowsAreBounded(t *testing.T) {
	for name, workflow := range githubWorkflows(t) {
		if len(workflow.Permissions) != 1 || workflow.Permissions["contents"] != "read" {
			t.Errorf("%s: permissions are %v, want contents: read alone", name, workflow.Permissions)
		}
		if workflow.Concurrency["group"] == "" || workflow.Concurrency["cancel-in-progress"] == "" {
			t.Errorf("%s: concurrency is %v", name, workflow.Concurrency)
		}
		for id, job := range workflow.Jobs {
			if job.Timeout <= 0 {
				t.Errorf("%s: job %s has no timeout", name, id)
			}
			for permission, level := range job.Permissions {
				if granted[name+" "+id][permission] != level {
					t.Errorf("%s: job %s has %s: %s", name, id, permission, level)
				}
			}
		}
	}
	for id, job := range gitlabJobs(t) {
		if job.Timeout == "" {
			t.Errorf(".gitlab-ci.yml: job %s has no timeout", id)
		}
	}
}

// TestWorkflowsPinActions: each action is named by its commit, with the version beside
// it, and a checkout leaves no credential in the work tree.
func TestWorkflowsPinActions(t *testing.T) {
	for name, workflow := range githubWorkflows(t) {
		for line := range strings.SplitSeq(harness.ReadText(t, filepath.Join(harness.Root, ".github", "workflows", name)), "\n") {
			if strings.Contains(line, "uses:") && !pinnedAction.MatchString(line) {
				t.Errorf("%s: %q names no commit with its version", name, strings.TrimSpace(line))
			}
		}
		for id, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != "false" {
					t.Errorf("%s: job %s keeps the credential of the checkout", name, id)
				}
			}
		}
	}
}

// TestWorkflowsUseTheGoOfTheModule keeps CI and the development container at the
// version that go.mod names.
func TestWorkflowsUseTheGoOfTheModule(t *testing.T) {
	version := moduleVersion.FindStringSubmatch(harness.ReadText(t, filepath.Join(harness.Root, "go.mod")))[1]
	for name, workflow := range githubWorkflows(t) {
		if workflow.Env["GO_VERSION"] != version {
			t.Errorf("%s: GO_VERSION is %q, go.mod says %s", name, workflow.Env["GO_VERSION"], version)
		}
	}
	for name, want := range map[string]string{
		".gitlab-ci.yml":                  "image: golang:" + version + "\n",
		".devcontainer/devcontainer.json": "/go:" + version + "-",
	} {
		if !strings.Contains(harness.ReadText(t, filepath.Join(harness.Root, name)), want) {
			t.Errorf("%s does not say %q", name, want)
		}
	}
}

func checkMakeCall(t *testing.T, where, call string, targets map[string]bool) {
	t.Helper()
	parts := makeCall.FindStringSubmatch(strings.TrimSpace(call))
	if parts == nil {
		t.Errorf("%s: %q is not a call of make", where, call)
		return
	}
	for _, target := range strings.Fields(parts[1]) {
		if !targets[target] {
			t.Errorf("%s: the Makefile has no target %q", where, target)
		}
	}
}

// makeTargets returns the names of the Makefile's targets.
func makeTargets(t *testing.T) map[string]bool {
	t.Helper()
	targets := map[string]bool{}
	for _, match := range makeTarget.FindAllStringSubmatch(harness.ReadText(t, filepath.Join(harness.Root, "Makefile")), -1) {
		targets[match[1]] = true
	}
	return targets
}

// githubWorkflows returns the workflows of this repository by file name.
func githubWorkflows(t *testing.T) map[string]githubWorkflow {
	t.Helper()
	workflows := map[string]githubWorkflow{}
	for _, file := range filesUnder(t, filepath.Join(harness.Root, ".github", "workflows"), ".yaml") {
		workflows[filepath.Base(file)] = readYAML[githubWorkflow](t, file)[0]
	}
	if len(workflows) < 3 {
		t.Fatalf("found %d workflows", len(workflows))
	}
	return workflows
}

// gitlabJobs returns the jobs of .gitlab-ci.yml: what has a script.
func gitlabJobs(t *testing.T) map[string]gitlabJob {
	t.Helper()
	jobs := map[string]gitlabJob{}
	for id, node := range readYAML[map[string]yaml.Node](t, filepath.Join(harness.Root, ".gitlab-ci.yml"))[0] {
		var job gitlabJob
		if node.Kind != yaml.MappingNode {
			continue
		}
		if err := node.Decode(&job); err != nil {
			t.Fatalf(".gitlab-ci.yml: %s: %v", id, err)
		}
		if len(job.Script) > 0 {
			jobs[id] = job
		}
	}
	if len(jobs) < 5 {
		t.Fatalf("found %d jobs", len(jobs))
	}
	return jobs
}
