package status

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

const (
	monitoring = "../../deploy/monitoring/"
	alertsPage = "../../docs/alerts.md"
	docsURL    = "https://github.com/seawall-dev/seawall/blob/main/docs/"
)

type alert struct {
	Alert       string
	Expr        string
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

func readMonitoring(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(monitoring + name)
	must.Do(t, err)
	return string(data)
}

func readAlerts(t *testing.T) []alert {
	t.Helper()
	var file struct {
		Groups []struct{ Rules []alert }
	}
	must.Do(t, yaml.Unmarshal([]byte(readMonitoring(t, "alerts.yaml")), &file))
	if len(file.Groups) != 1 || len(file.Groups[0].Rules) < 10 {
		t.Fatalf("alerts.yaml has %v", file)
	}
	return file.Groups[0].Rules
}

// dashboardQueries are the queries of the dashboard, as Prometheus gets them.
func dashboardQueries(t *testing.T) []string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Type, Title, Description string
			Targets                  []struct{ Expr string }
		}
	}
	must.Do(t, json.Unmarshal([]byte(readMonitoring(t, "dashboard.json")), &dashboard))
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*")
	var queries []string
	for _, p := range dashboard.Panels {
		if p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("the panel %q lacks a description or a query", p.Title)
		}
		for _, target := range p.Targets {
			queries = append(queries, variables.Replace(target.Expr))
		}
	}
	return queries
}

var (
	selector = regexp.MustCompile(`(seawall_[a-z_]+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`([a-z_]+)=~?["']([^"']*)["']`)
)

// TestMonitoringNamesWhatThereIs: rules, their tests and the dashboard ask for metrics,
// labels and values that the daemon serves; another would be silent for ever.
func TestMonitoringNamesWhatThereIs(t *testing.T) {
	texts := map[string][]string{
		"alerts_test.yaml": {readMonitoring(t, "alerts_test.yaml")},
		"dashboard.json":   dashboardQueries(t),
	}
	for _, a := range readAlerts(t) {
		texts["alerts.yaml"] = append(texts["alerts.yaml"], a.Expr)
	}
	for file, queries := range texts {
		for _, found := range selector.FindAllStringSubmatch(strings.Join(queries, "\n"), -1) {
			if err := served(found[1], found[2]); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	for _, nonsense := range [][2]string{{"seawall_nothing", ""}, {"seawall_outages", `subject="moon"`}, {"seawall_outages", `phase="x"`}} {
		if served(nonsense[0], nonsense[1]) == nil {
			t.Errorf("%v is served", nonsense)
		}
	}
}

// served says what of a selector the daemon does not serve.
func served(name, matchers string) error {
	i := slices.IndexFunc(catalogue(), func(m metric) bool {
		return m.name == name || m.kind == "histogram" && strings.TrimSuffix(name, "_bucket") == m.name
	})
	if i < 0 {
		return fmt.Errorf("there is no metric %s", name)
	}
	for _, match := range matcher.FindAllStringSubmatch(matchers, -1) {
		if match[1] == "job" || match[1] == "instance" {
			continue // Prometheus sets these
		}
		labels := catalogue()[i].labels
		j := slices.IndexFunc(labels, func(l label) bool { return l.name == match[1] })
		if j < 0 {
			return fmt.Errorf("%s has no label %s", name, match[1])
		}
		for value := range strings.SplitSeq(match[2], "|") {
			if labels[j].values != nil && !slices.Contains(labels[j].values, value) {
				return fmt.Errorf("%s never has %s=%q", name, match[1], value)
			}
		}
	}
	return nil
}

// TestNeedsPersonIsWhatDoes: the alert and the dashboard count the outcomes that need a
// person: all of them, and no other.
func TestNeedsPersonIsWhatDoes(t *testing.T) {
	var want []string
	for _, o := range inspect.Outcomes() {
		if o.NeedsPerson() {
			want = append(want, string(o))
		}
	}
	slices.Sort(want)
	counted := 0
	for _, file := range []string{"alerts.yaml", "dashboard.json"} {
		text := strings.ReplaceAll(readMonitoring(t, file), `\"`, `"`)
		for _, match := range regexp.MustCompile(`outcome=~"(refused[a-z_|]+)"`).FindAllStringSubmatch(text, -1) {
			got := strings.Split(match[1], "|")
			slices.Sort(got)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s (-code +file):\n%s", file, d)
			}
			counted++
		}
	}
	if counted != 2 {
		t.Errorf("found %d, want one in each file", counted)
	}
}

// TestGeneratedAlertsPage: each alert says how severe it is, what it means, what to do,
// and where to read on; it has a unit test; and docs/alerts.md lists it.
func TestGeneratedAlertsPage(t *testing.T) {
	tests := readMonitoring(t, "alerts_test.yaml")
	var b strings.Builder
	b.WriteString(alertsIntroduction)
	for _, a := range readAlerts(t) {
		if !slices.Contains([]string{"critical", "warning", "info"}, a.Labels["severity"]) {
			t.Errorf("%s: severity %q", a.Alert, a.Labels["severity"])
		}
		if !strings.Contains(tests, `alertname="`+a.Alert+`"`) {
			t.Errorf("%s has no unit test", a.Alert)
		}
		link, ours := strings.CutPrefix(a.Annotations["runbook_url"], docsURL)
		if a.Annotations["summary"] == "" || a.Annotations["description"] == "" || !ours {
			t.Errorf("%s lacks a summary, a description or a runbook_url of %s", a.Alert, docsURL)
		}
		file, _, _ := strings.Cut(link, "#")
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s [%s](%s) |\n", a.Alert, a.Labels["severity"], cell(a.Annotations["summary"]), a.when(),
			cell(a.Annotations["description"]), file, link)
	}
	if *update {
		must.Do(t, os.WriteFile(alertsPage, []byte(b.String()), 0o644))
	}
	got, err := os.ReadFile(alertsPage)
	must.Do(t, err)
	if d := cmp.Diff(b.String(), string(got)); d != "" {
		t.Errorf("%s (-rules +page); rewrite it with -update:\n%s", alertsPage, d)
	}
}

func (a alert) when() string {
	text := "`" + strings.ReplaceAll(a.Expr, "|", `\|`) + "`"
	if a.For != "" {
		text += " for " + a.For
	}
	return text
}

// cell is an annotation for people: {{ $labels.code }} is *code*.
func cell(text string) string {
	return regexp.MustCompile(`\{\{ \$(?:labels\.)?([a-z]+)[^}]*\}\}`).ReplaceAllString(text, "*$1*")
}

const alertsIntroduction = `<!-- Written by the tests of reconcile/status from deploy/monitoring/alerts.yaml; rewrite it with -update. -->

# Alerts

[deploy/monitoring](../deploy/README.md#monitoring) has these rules for Prometheus, with unit tests, and a dashboard for Grafana. It also says how to install them.
*critical* is for the engineer on call, *warning* for working hours, *info* for a list. Each alert links to the page of its row in ` + "`runbook_url`" + `. The column *when* has the expression, and how long it must be true. Without Prometheus, use [notifications](notifications.md).

| alert | severity | means | when | what to do |
|---|---|---|---|---|
`

// TestPromtool lets promtool check the rules and the queries of the dashboard, and run the
// unit tests of the rules.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed; in Debian and Ubuntu the package prometheus has it")
	}
	run := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), promtool, args...)
		c.Dir = monitoring
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("check", "rules", "alerts.yaml")
	run("test", "rules", "alerts_test.yaml")

	type rule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var rules []rule
	for i, query := range dashboardQueries(t) {
		rules = append(rules, rule{fmt.Sprintf("dashboard:%d", i), query})
	}
	data, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	must.Do(t, err)
	file := filepath.Join(t.TempDir(), "dashboard.yaml")
	must.Do(t, os.WriteFile(file, data, 0o600))
	run("check", "rules", file)
}
