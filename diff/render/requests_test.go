package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestOverloadIsSaid(t *testing.T) {
	plan := diff.Plan{Requests: diff.Requests{Used: 3, Overload: diff.Budget{Requests: 1200, Per: 5 * time.Minute}.Overload(10_000, 10_001, 30*time.Minute)}}.Sealed()
	const text = "the sweep schedule is too short: a sweep of 10000 zones needs 10001 requests, and one starts every 30m; the budget of 1200 in 5m, less a tenth for new commits, allows a sweep every 47m"
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return Text(b, plan, false) },
		"markdown": func(b *bytes.Buffer) error { return Markdown(b, plan) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil || !strings.Contains(b.String(), text) || !strings.Contains(b.String(), "sweep every 47m or less often") {
			t.Errorf("%s: %v\n%s", name, err, &b)
		}
	}
	data, err := json.Marshal(plan.Requests)
	if want := `{"used":3,"to_apply":0,"overload":{"zones":10000,"requests":10001,"interval_seconds":1800,"holds_seconds":2820}}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v, want %s", data, err, want)
	}
	if silent := (diff.Plan{}).Sealed(); plan.Digest != silent.Digest {
		t.Error("the schedule is in the digest")
	}
}

// All three forms say the cost, and the digest does not know of it.
func TestCostIsSaid(t *testing.T) {
	plan := difftest.PlanOf(difftest.ChangesTo(1, 1)...).Sealed()
	before := plan.Digest
	plan.Requests.Cost = diff.Budget{Requests: 1, Per: 90 * time.Second}.Cost(plan.Requests.ToApply)
	var text, markdown bytes.Buffer
	must.Do(t, Text(&text, plan, false))
	must.Do(t, Markdown(&markdown, plan))
	line := plan.Requests.String()
	if !strings.Contains(line, "in no less than 1m30s") || !strings.Contains(text.String(), line+"\n") || !strings.Contains(markdown.String(), line+". Digest") {
		t.Errorf("%s\n%s\n%s", line, &text, &markdown)
	}
	data, err := json.Marshal(plan.Requests)
	if want := `{"used":0,"to_apply":2,"cost":{"budget_requests":1,"budget_seconds":90,"share":2,"least_seconds":90}}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v", data, err)
	}
	if plan.Sealed().Digest != before {
		t.Error("the budget is in the digest")
	}
}
