package repository

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// recipe is a check on pull requests as deploy/ci has it: what its two jobs
// say, whatever the dialect.
type recipe struct {
	file     string
	validate string // the job as text
	plan     string
	guard    string // the condition that keeps the plan job away from forks
	script   string // the shell of the plan step
	weakens  int    // what the script ends with when the plan weakens
}

type workflow struct {
	On   map[string]any
	Jobs map[string]struct {
		If    string
		Steps []struct{ Name, Run string }
	}
}

// readRecipes returns the three recipes.
func readRecipes(t *testing.T) []recipe {
	t.Helper()
	recipes := []recipe{readGitLab(t)}
	for _, name := range []string{"github.yaml", "forgejo.yaml"} {
		file := filepath.Join(deploy, "ci", name)
		w := readYAML[workflow](t, file)[0]
		if _, ok := w.On["pull_request"]; !ok || len(w.On) != 1 {
			t.Errorf("%s runs on %v, want pull_request alone: no other trigger keeps secrets from forks", name, w.On)
		}
		r := recipe{file: name, guard: w.Jobs["plan"].If, weakens: 0}
		r.validate, r.plan = cutJobs(t, file, "\n  validate:\n", "\n  plan:\n")
		if name == "github.yaml" {
			r.script = filepath.Join(planAction(t), "plan.sh") + " plan.md"
		}
		for _, step := range w.Jobs["plan"].Steps {
			if step.Name == "plan" {
				r.script = step.Run
			}
		}
		recipes = append(recipes, r)
	}
	return recipes
}

// planAction is the folder of the action that the recipe for GitHub uses.
func planAction(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join(harness.Root, ".github", "actions", "seawall-plan"))
	must.Do(t, err)
	return folder
}

func readGitLab(t *testing.T) recipe {
	t.Helper()
	type job struct {
		Rules  []struct{ If string }
		Script []string
	}
	file := filepath.Join(deploy, "ci", "gitlab.yaml")
	w := readYAML[struct {
		Plan job `yaml:"seawall plan"`
	}](t, file)[0]
	if len(w.Plan.Rules) != 1 {
		t.Fatalf("gitlab.yaml: want one rule for the plan job: %+v", w.Plan.Rules)
	}
	r := recipe{file: "gitlab.yaml", guard: w.Plan.Rules[0].If, script: strings.Join(w.Plan.Script, "\n"), weakens: 3}
	r.validate, r.plan = cutJobs(t, file, "\nseawall validate:\n", "\nseawall plan:\n")
	return r
}

func cutJobs(t *testing.T, file, validate, plan string) (string, string) {
	t.Helper()
	_, rest, ok := strings.Cut(harness.ReadText(t, file), validate)
	first, second, found := strings.Cut(rest, plan)
	if !ok || !found {
		t.Fatalf("%s: want a job %q and then %q", file, validate, plan)
	}
	return first, second
}

// TestDeployChecksKeepTheTokenFromForks: the job that everyone may start knows
// no secret, the other one starts for branches of the repository only.
func TestDeployChecksKeepTheTokenFromForks(t *testing.T) {
	for _, r := range readRecipes(t) {
		job := uncommented(r.validate)
		for _, secret := range []string{"secrets.", "TOKEN", "token:", "environment", "BASE_URL", "base-url"} {
			if strings.Contains(job, secret) {
				t.Errorf("%s: the validate job speaks of %q", r.file, secret)
			}
		}
		if !strings.Contains(job, `seawall validate "$SEAWALL_DIR"`) && !strings.Contains(job, "/.github/actions/seawall-plan@") {
			t.Errorf("%s: the validate job does not validate", r.file)
		}
		github := r.guard == "github.event.pull_request.head.repo.full_name == github.repository"
		gitlab := strings.HasSuffix(r.guard, "&& $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID")
		if !github && !gitlab {
			t.Errorf("%s: the plan job runs if %q, which forks may meet", r.file, r.guard)
		}
		if !strings.Contains(r.plan, "SEAWALL_RULESETS_TOKEN") {
			t.Errorf("%s: the plan job does not say where its token comes from", r.file)
		}
	}
}

func uncommented(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// TestDeployChecksEndAsPromised runs the shell of each plan step with a program
// named seawall that ends with each of plan's exit codes.
func TestDeployChecksEndAsPromised(t *testing.T) {
	for _, r := range readRecipes(t) {
		for plan, want := range map[string]int{"0": 0, "2": 0, "3": r.weakens, "4": 1, "1": 1, "137": 1} {
			t.Run(r.file+"/"+plan, func(t *testing.T) {
				code, args, written := runPlanStep(t, r.script, plan)
				if code != want {
					t.Errorf("the step ends with %d, want %d", code, want)
				}
				if got, want := args, "plan --dir states --base-url https://edge.test -o markdown --detailed-exitcode\n"; got != want {
					t.Errorf("the step runs seawall %s, want %s", got, want)
				}
				if written != "# the plan\n" {
					t.Errorf("plan.md holds %q", written)
				}
			})
		}
	}
}

// runPlanStep runs a script as the runners do, with errexit, in a folder of
// its own. It returns how the script ended, the arguments seawall was given
// and what was left in plan.md.
func runPlanStep(t *testing.T, script, exit string) (code int, args, plan string) {
	t.Helper()
	folder := programs(t, map[string]string{"seawall": "#!/bin/sh\necho \"$*\" >args\necho '# the plan'\nexit " + exit + "\n"})
	command := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
	command.Dir = folder
	command.Env = []string{
		pathOf(folder),
		"SEAWALL_DIR=states", "SEAWALL_BASE_URL=https://edge.test", "GITHUB_STEP_SUMMARY=" + filepath.Join(folder, "summary.md"),
	}
	out, err := command.CombinedOutput()
	if command.ProcessState == nil {
		t.Fatal(err)
	}
	t.Logf("%s", out)
	return command.ProcessState.ExitCode(), harness.ReadText(t, filepath.Join(folder, "args")), harness.ReadText(t, filepath.Join(folder, "plan.md"))
}
