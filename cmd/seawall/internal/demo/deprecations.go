package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/examples"
)

// checkedDay is the day for which the demo judges: some rules are past their
// end on it and others are announced.
const checkedDay = "2025-05-01"

// Check reports which calls that a folder of desired state declares are deprecated on a day,
// and fails as seawall deprecations check does.
type Check func(ctx context.Context, dir, day string) error

// Deprecations shows, in a temporary folder, what Seawall says of deprecated parts of the
// platform's API.
func Deprecations(ctx context.Context, t *cli.Terminal, check Check) error {
	d := demo{Terminal: t}
	return d.inFolder(func() error {
		return inTurn(ctx, func(ctx context.Context) error { return d.deprecations(ctx, check) }, d.travel)
	})
}

// deprecations shows which integrations of the example use deprecated features.
func (d *demo) deprecations(ctx context.Context, check Check) error {
	d.title("seawall deprecations check --at %s: which programs break, and when", checkedDay)
	files, err := fs.Sub(examples.Files, "integrations")
	if err != nil {
		return err
	}
	if err := os.CopyFS(d.path("integrations"), files); err != nil {
		return err
	}
	err = check(ctx, d.path("integrations"), checkedDay)
	var code cli.ExitError
	if err != nil && !errors.As(err, &code) {
		return err
	}
	return expect(code == 4, "an integration uses what has ended without replacement")
}

// movedRule is the rule of which the demo shows the day before and the day.
const movedRule = "cname-flattening-setting"

// travel makes one call against the platform of the day before a rule ends, and
// again on the day.
func (d *demo) travel(ctx context.Context) error {
	calendar, err := schema.Calendar()
	if err != nil {
		return err
	}
	var end time.Time
	for _, rule := range calendar.Rules {
		if rule.ID == movedRule {
			end = rule.Date.Time()
		}
	}
	d.title("seawall sim --at: the same call before and after its end")
	platform, err := sim.Start(sim.Config{Calendar: calendar}) //nolint:contextcheck // it runs until it is closed
	if err != nil {
		return err
	}
	defer platform.Close()
	var codes []int
	for _, at := range []time.Time{end.AddDate(0, 0, -1), end} {
		platform.SetClock(at)
		code, body, err := getSetting(ctx, platform)
		if err != nil {
			return err
		}
		codes = append(codes, code)
		d.say("%s  GET %s", deprecation.DateOf(at), settingPath)
		d.say("            %d %s", code, body)
	}
	d.say("\nRun the tests of your own client against next year: seawall sim --at DATE.")
	return expect(codes[0] == http.StatusOK && codes[1] == http.StatusNotFound, "the call is answered the day before and not on the day")
}

const settingPath = "/zones/" + string(demoZone) + "/settings/cname_flattening"

// getSetting is any client's call: it knows nothing of Seawall.
func getSetting(ctx context.Context, platform *sim.Running) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, platform.BaseURL+settingPath, nil)
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+platform.RulesetsToken.Reveal())
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", fmt.Errorf("asking the simulator: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	return answer.StatusCode, strings.TrimSpace(string(body)), err
}
