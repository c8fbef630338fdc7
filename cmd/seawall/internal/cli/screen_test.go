package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/client"
)

// rows is what a terminal shows of what was written to it: the rows, and the one that
// the cursor is in.
func rows(output string) (above []string, current string) {
	var row []rune
	at := 0
	for text := []rune(output); len(text) > 0; {
		switch {
		case strings.HasPrefix(string(text), "\x1b[K"):
			row, text = row[:at], text[3:]
			continue
		case text[0] == '\r':
			at = 0
		case text[0] == '\n':
			above, row, at = append(above, string(row)), nil, 0
		default:
			row = append(row[:at], append([]rune{text[0]}, row[min(at+1, len(row)):]...)...)
			at++
		}
		text = text[1:]
	}
	return above, string(row)
}

func newScreen(out io.Writer, width int) *screen {
	return &screen{out: out, width: func() int { return width }}
}

// However lines and progress follow each other, each line stands on a row of its own,
// as it was written, and below all of them is the progress that was shown last.
func TestLinesAndProgressShareNoRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var terminal bytes.Buffer
		s := newScreen(&terminal, 40)
		var lines []string
		status := ""
		for i := range rapid.IntRange(0, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "a line") {
				line := fmt.Sprintf("line %d %s", i, rapid.StringMatching(`[a-zä ]{0,60}`).Draw(t, "text"))
				fmt.Fprintln(s, line)
				lines = append(lines, line)
				continue
			}
			status = rapid.SampledFrom([]string{"", "observing 1/3", "applying", strings.Repeat("long ", 20)}).Draw(t, "progress")
			s.show(status)
		}
		above, current := rows(terminal.String())
		if !slices.Equal(above, lines) || current != cut(status, 40) {
			t.Fatalf("the terminal shows %q and %q, want %q and %q", above, current, lines, cut(status, 40))
		}
		if n := len([]rune(current)); n >= 40 {
			t.Fatalf("the progress has %d columns and wraps", n)
		}
	})
}

// A question stays as it is while progress goes on.
func TestQuestionIsNotOverwritten(t *testing.T) {
	var terminal bytes.Buffer
	s := newScreen(&terminal, 80)
	s.show("observing 1/3")
	s.show("")
	fmt.Fprint(s, "Apply 1 change? ")
	s.show("observing 2/3")
	if above, current := rows(terminal.String()); len(above) != 0 || current != "Apply 1 change? " {
		t.Errorf("the terminal shows %q and %q", above, current)
	}
	terminal.WriteString("yes\n") // as the terminal echoes it
	s.answered()
	s.show("applying 1/3")
	fmt.Fprintln(aside{s, &terminal}, "a result")
	above, current := rows(terminal.String())
	if !slices.Equal(above, []string{"Apply 1 change? yes", "a result"}) || current != "" {
		t.Errorf("the terminal shows %q and %q", above, current)
	}
}

func TestConfirm(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		tty  bool
		yes  bool
		want error
	}{
		"yes":                {"yes\n", true, false, nil},
		"spaces":             {" yes \r\n", true, false, nil},
		"no":                 {"no\n", true, false, errDeclined},
		"nothing":            {"\n", true, false, errDeclined},
		"the end":            {"", true, false, errDeclined},
		"another word":       {"yes please\n", true, false, errDeclined},
		"--yes":              {"no\n", true, true, nil},
		"no terminal":        {"", false, false, nil},
		"a very long answer": {strings.Repeat("yes ", 1000) + "\n", true, false, errDeclined},
	} {
		var out bytes.Buffer
		s := newScreen(&out, 80)
		term := &Terminal{In: strings.NewReader(c.in), Err: s, screen: s, inTTY: c.tty}
		if err := Confirm(t.Context(), term, "Go on?", c.yes); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if asked := strings.Contains(out.String(), `Go on? Enter "yes" to continue: `); asked != (c.tty && !c.yes) {
			t.Errorf("%s: it wrote %q", name, out.String())
		}
	}
}

// The end of the context ends the question.
func TestConfirmIsInterrupted(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&out, 80)
	never, _ := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interrupted{2})
	err := Confirm(ctx, &Terminal{In: never, Err: s, screen: s, inTTY: true}, "Go on?", false)
	var by interrupted
	if !errors.As(err, &by) || by.code() != 130 || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestRemaining(t *testing.T) {
	budget := diff.Budget{Requests: 1200, Per: 5 * time.Minute}
	for name, c := range map[string]struct {
		n     int
		speed float64
		left  client.Forecast
		want  time.Duration
	}{
		"within what is left":       {600, 60, client.Forecast{Left: 1200}, 10 * time.Second},
		"all of it":                 {1200, 60, client.Forecast{Left: 1200}, 20 * time.Second},
		"a little over":             {1260, 60, client.Forecast{Left: 1200, Next: 280 * time.Second}, 281 * time.Second},
		"nothing left":              {60, 60, client.Forecast{Next: 4 * time.Minute}, 4*time.Minute + time.Second},
		"several windows":           {3600, 60, client.Forecast{Left: 1200, Next: 290 * time.Second}, 290*time.Second + 5*time.Minute + 20*time.Second},
		"slower than the budget is": {2400, 1, client.Forecast{Left: 1200, Next: time.Minute}, 2400 * time.Second},
	} {
		if got, ok := remaining(c.n, c.speed, c.left, budget); !ok || got != c.want {
			t.Errorf("%s: %s, %v; want %s", name, got, ok, c.want)
		}
	}
	if _, ok := remaining(10, 0, client.Forecast{Left: 1200}, budget); ok {
		t.Error("there is an estimate before anything was done")
	}
}

type fixedMeter client.Forecast

func (m fixedMeter) Room(int) int              { return m.Left }
func (m fixedMeter) Forecast() client.Forecast { return client.Forecast(m) }
func (m fixedMeter) State() client.BudgetState { return client.BudgetState{Left: m.Left} }

// The speed is that of the time in which the budget did not hold requests back.
func TestPhase(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	after := func(d time.Duration) time.Time { now = now.Add(d); return now }
	q := Quota{diff.Budget{Requests: 1200, Per: 5 * time.Minute}, fixedMeter{Left: 400, Next: time.Minute}}
	var p phase
	p.reach(now, "observing zones", 0, 1000)
	p.reach(after(10*time.Second), "observing zones", 800, 1000)
	if got, want := p.line(now, q), "observing zones 800/1000, 80 requests a second, 400 of 1200 requests left, about 3s to go"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	q.Meter = fixedMeter{Next: 250 * time.Second}
	p.line(now, q)
	got, want := p.line(after(2*time.Minute), q), "observing zones 800/1000, 80 requests a second, the budget of 1200 in 5m is used up for 4m10s, about 4m10s to go"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	q.Meter = fixedMeter{Next: 250 * time.Second, Kept: true}
	if got, want := p.line(now, q), "the rest of the budget of 1200 in 5m is kept for more urgent requests, for about 4m10s"; !strings.Contains(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	p.reach(now, "looking up names", 0, 0)
	if got, want := p.line(now, q), "looking up names, the rest of the budget"; !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	q.Meter = fixedMeter{Next: 250 * time.Second}
	p.reach(now, stageApplying, 0, 3)
	if got := p.line(now, q); !strings.HasPrefix(got, "applying changes 0/3, the budget") || strings.Contains(got, "to go") {
		t.Errorf("got %s", got)
	}
	p.reach(now, stageApplying, 3, 3)
	if got := p.line(now, q); got != "applying changes 3/3" {
		t.Errorf("got %s", got)
	}
}

func TestBriefly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1: "1s", 1500 * time.Millisecond: "2s", 59 * time.Second: "59s", time.Minute: "1m0s", 254 * time.Second: "4m10s",
		3*time.Hour + 29*time.Second: "3h0m", 3*time.Hour + 90*time.Second: "3h2m",
	} {
		if got := briefly(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
