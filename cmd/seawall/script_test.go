package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/reconcile/sink/sinktest"
)

// stage is what a script has set up beside its files.
type stage struct {
	sim     *sim.Running
	vault   *sinktest.Vault
	cluster *sinktest.Kubernetes
	daemons map[string]*daemonProcess

	host  *commandHost // nil until a command runs
	start []string     // names of variables that each script has
	names []string     // of variables that the script may have; nil until a command runs
}

type stageKey struct{}

func stageOf(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

// take checks the number of a command's arguments.
func take(ts *testscript.TestScript, neg bool, args []string, least, most int, usage string) {
	if neg || len(args) < least || len(args) > most {
		ts.Fatalf("usage: %s", usage)
	}
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

// many is no bound on arguments.
const many = 1 << 20

func startSim(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 0, many, "sim [extended|vendor] [seed=FILE|fleet=N|tiers=N] [QUIRK…]")
	var config sim.Config
	for _, arg := range args {
		switch name, value, _ := strings.Cut(arg, "="); name {
		case mem.Extended, mem.Vendor:
			config.Profile = arg
		case "seed":
			seed, err := mem.ReadSeed(strings.NewReader(ts.ReadFile(value)))
			ts.Check(err)
			config.Seed = seed
		case "fleet":
			config.Seed = mem.Fleet(number(ts, value))
		case "tiers":
			config.Seed = tieredFleet(number(ts, value))
		default:
			config.Quirks = append(config.Quirks, arg)
		}
	}
	s, err := sim.Start(config)
	ts.Check(err)
	ts.Defer(func() { _ = s.Close() })
	stageOf(ts).sim = s
	ts.Setenv("BASE_URL", s.BaseURL)
	ts.Setenv("CONTROL", s.ControlURL())
	ts.Setenv("SEAWALL_RULESETS_TOKEN", s.RulesetsToken.Reveal())
	ts.Setenv("SEAWALL_TOKENS_TOKEN", s.TokensToken.Reveal())
}

func theSim(ts *testscript.TestScript) *sim.Running {
	s := stageOf(ts).sim
	if s == nil {
		ts.Fatalf("no simulator runs: say sim first")
	}
	return s
}

func writeTranscript(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 1, 2, "transcript FILE [sorted]")
	var calls []string
	for _, entry := range theSim(ts).Transcript() {
		calls = append(calls, entry.Call()+"\n")
	}
	if len(args) == 2 {
		slices.Sort(calls)
	}
	theSim(ts).ClearTranscript()
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(calls, "")), 0o644))
}

func put(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, 2, "put PATH FILE")
	simControl(ts, http.MethodPut, args[0], strings.NewReader(ts.ReadFile(args[1])))
}

func get(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, 2, "get PATH FILE")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), simControl(ts, http.MethodGet, args[0], nil), 0o644))
}

func simControl(ts *testscript.TestScript, method, path string, body io.Reader) []byte {
	req, err := http.NewRequest(method, theSim(ts).ControlURL()+path, body)
	ts.Check(err)
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if resp.StatusCode >= 300 {
		ts.Fatalf("%s %s: %s: %s", method, path, resp.Status, answer)
	}
	return answer
}

func wide(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, 2, "wide FILE N")
	writeZones(ts, args[0], "", args[1], func(i int) string { return fmt.Sprintf(`z%d: {id: "%032x", waf: {}}`, i, i) })
}

// writeZones writes a CUE file with n zones of one account.
func writeZones(ts *testscript.TestScript, file, account, n string, zone func(i int) string) {
	var b strings.Builder
	b.WriteString("package edge\n\naccount: prod: id: \"0123456789abcdef0123456789abcdef\"\n" + account + "account: prod: zone: {\n")
	for i := range number(ts, n) {
		b.WriteString("\t" + zone(i) + "\n")
	}
	b.WriteString("}\n")
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(file)), 0o755))
	ts.Check(os.WriteFile(ts.MkAbs(file), []byte(b.String()), 0o644))
}

func replace(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 3, 3, "replace OLD NEW FILE")
	old, with := unescape(ts, args[0]), unescape(ts, args[1])
	text := ts.ReadFile(args[2])
	if !strings.Contains(text, old) {
		ts.Fatalf("%s does not contain %q", args[2], old)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.ReplaceAll(text, old, with)), 0o644))
}

func capture(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 3, 3, "capture NAME REGEXP FILE")
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found := pattern.FindStringSubmatch(ts.ReadFile(args[2]))
	if len(found) != 2 {
		ts.Fatalf("%s has no match for %s", args[2], args[1])
	}
	ts.Setenv(args[0], found[1])
}

func mode(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, 2, "mode FILE MODE")
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := fmt.Sprintf("%#o", info.Mode().Perm()); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}

// unescape reads the escapes of Go that a script cannot hold as they are.
func unescape(ts *testscript.TestScript, s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	ts.Check(err)
	return text
}

// varies is what differs from run to run, and what stands for it. Each seawall in a script
// is this binary: what it compiles at its start, all of them pay for.
var varies = sync.OnceValue(func() []variation {
	return []variation{
		{regexp.MustCompile(`127\.0\.0\.1:\d+`), "HOST:PORT"},
		{regexp.MustCompile(`sha256:[0-9a-f]{64}`), "sha256:DIGEST"},
		{regexp.MustCompile(`"(commit)": "[0-9a-f]{40}"`), `"$1": "COMMIT"`},
		{regexp.MustCompile(`\(attempt [0-9a-f]{16}\)`), "(attempt ATTEMPT)"},
		{regexp.MustCompile(`--adopt [0-9a-f]{32}`), "--adopt ID"},
		{regexp.MustCompile(`\b(commit|held|in force)( +)[0-9a-f]{7,40}\b`), "$1${2}COMMIT"},
		{regexp.MustCompile(`[^ @,:(<]+@[^ @,:<>)]+([,)])`), "USER@HOST$1"},
		{regexp.MustCompile(`(?m)\buser [^ @,]+@[^ @,]+$`), "user USER@HOST"},
		{regexp.MustCompile(`(head \d+):[0-9a-f]{64}`), "$1:HASH"},
		{regexp.MustCompile(`expired \d+ days ago`), "expired DAYS ago"},
		{regexp.MustCompile(`seawall-demo-\d+`), "seawall-demo"},
		{regexp.MustCompile(`\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})?`), "TIME"},
		{regexp.MustCompile(`(?m)^TIME  #\d+`), "TIME  #N"},
	}
})

type variation struct {
	pattern *regexp.Regexp
	word    string
}

func scrub(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, 2, "scrub FILE OUT")
	text := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "WORK")
	for _, v := range varies() {
		text = v.pattern.ReplaceAllString(text, v.word)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}
