package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/once"
	"github.com/seawall-dev/seawall/reconcile/source"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// edgeCUE is the file that all scenarios have beside their own.
const edgeCUE = `package edge

account: prod: {
	id: "0123456789abcdef0123456789abcdef"
	ruleset: {
		core: name: "Core Ruleset"
		credentials: name: "Exposed Credentials"
	}
	zone: ["shop.example"]: id: "00000000000000000000000000000a01"
}
`

// scene is a simulator, a repository and what is on record. Each plan and each apply over
// them is a run of its own, as the commands make it.
type scene struct {
	t        *testing.T
	sim      *sim.Server
	client   *client.Client
	extended bool
	looking  []edge.Phase // of zones, for skip rules
	planted  int          // rules that got an id

	files   fstest.MapFS
	commits int
	records reconcile.Forgetful
}

// start is when a scenario begins, by the clock of its bubble.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// interval is between two sweeps.
const interval = 2 * time.Hour

// newScene has the zone shop.example of the profile's seed, which runs the core ruleset
// without overrides. A scenario's comment says what else it has.
func newScene(t *testing.T, comment string) *scene {
	t.Helper()
	profile, quirks := mem.Vendor, []string(nil)
	if platform := words(comment, "platform"); platform != nil {
		profile, quirks = platform[0], platform[1:]
	}
	signIn := mem.RulesetsTokenName
	if other := words(comment, "credential"); other != nil {
		signIn = other[0]
	}
	s := &scene{t: t, extended: profile != mem.Documented, files: fstest.MapFS{"edge.cue": {Data: []byte(edgeCUE)}}}
	switch phases := words(comment, "looks at"); {
	case phases == nil:
		s.looking = []edge.Phase{edge.PhaseFirewallCustom}
	case phases[0] != "nothing":
		for _, phase := range phases {
			s.looking = append(s.looking, edge.Phase(phase))
		}
	}
	var ours []diff.Settled
	for _, ref := range words(comment, "on record") {
		for _, kind := range []desired.KindName{desired.CustomRule, desired.RateLimit} {
			ours = append(ours, diff.Settled{ID: diff.ID{Kind: kind, Scope: mem.ShopZone, Ref: ref}, Owned: []diff.Member{"action"}})
		}
	}
	must.Do(t, s.records.Widen(t.Context(), ours))
	var err error
	s.sim, err = sim.New(sim.Config{
		Profile: profile, Quirks: quirks, Now: time.Now,
		ClientAddr: func(*http.Request) netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, 1}) },
	})
	must.Do(s.t, err)
	s.client, err = client.New(client.Config{
		BaseURL: "http://127.0.0.1" + sim.DefaultBasePath, Transport: handled{s.sim.Handler()},
		Token: func() (edge.Secret, error) { return s.credential(signIn), nil },
	})
	must.Do(s.t, err)
	return s
}

// credential is the seeded one of a name.
func (s *scene) credential(name string) edge.Secret {
	for _, token := range s.sim.Platform.Tokens() {
		if token.Name == name {
			return edge.NewSecret(token.Value)
		}
	}
	return edge.Secret{}
}

// handled answers requests without a network, and takes its time.
type handled struct{ http.Handler }

func (h handled) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(10 * time.Millisecond)
	w, served := httptest.NewRecorder(), r.Clone(r.Context())
	if served.Body == nil {
		served.Body = http.NoBody // as a server has it
	}
	h.ServeHTTP(w, served)
	response := w.Result()
	response.Request = r
	return response, nil
}

// commit changes one file of the repository; an empty one is deleted.
func (s *scene) commit(name string, data []byte) {
	s.commits++
	delete(s.files, name)
	if len(data) > 0 {
		s.files[name] = &fstest.MapFile{Data: data}
	}
}

// Fetch implements [reconcile.Source].
func (s *scene) Fetch(context.Context) (string, error) { return fmt.Sprint("c", s.commits), nil }

// Compile implements [reconcile.Compiler].
func (s *scene) Compile(_ context.Context, commit string) (desired.State, []desired.Problem, error) {
	state, problems := compiletest.Tree(s.files, ".", commit)
	return state, problems, nil
}

// lane is the credential, with the budget that a configuration has unless it says another.
func (s *scene) lane() reconcile.Lane {
	lane := reconcile.Lane{Writer: s.client, Reader: edge.ReadOnly(s.client), Concurrency: 1, Budget: diff.Budget{Requests: 1200, Per: 5 * time.Minute}}
	if s.extended {
		lane.DryRunner = edge.DryRunOnly(s.client)
	}
	return lane
}

// guards are none, but for what the profile does not offer.
func (s *scene) guards() reconcile.Guards {
	return reconcile.Guards{Documented: !s.extended, Looking: reconcile.Looking{Phases: s.looking, Every: 24 * time.Hour}}
}

// run is what seawall plan and seawall apply make of a configuration with the profile and
// no guards.
func (s *scene) run(reads bool) *once.Run {
	s.sim.ClearTranscript()
	lane := s.lane()
	if reads {
		lane.Writer = edge.NoWriter{}
	}
	lanes := reconcile.OneLane(lane)
	return &once.Run{
		Source: source.New(source.Config{Source: s, Compiler: s, Now: time.Now}), Records: &s.records,
		Guards: s.guards(), Lanes: lanes, DryRuns: zone.DryRuns{Lanes: lanes},
		Interval: interval, Requests: s.client.Requests, Now: time.Now,
	}
}

// writes are the requests since the last run began that were to change something.
func (s *scene) writes() (all []sim.Entry) {
	for _, call := range s.sim.Transcript() {
		if call.Method != http.MethodGet && call.Query == "" {
			all = append(all, call)
		}
	}
	return all
}

func text(t *testing.T, p diff.Plan) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, render.Text(&b, p, false))
	return b.String()
}

// exitCode is that of seawall plan --detailed-exitcode.
func exitCode(p diff.Plan) int {
	if p.Attention() {
		return 4
	}
	code := 0
	for _, c := range p.Changes {
		switch {
		case !c.Applies():
		case c.Direction == diff.Weakens:
			return 3
		default:
			code = 2
		}
	}
	return code
}

// innermost is an object or list of an indented body that holds no other.
var innermost = regexp.MustCompile(`[{\[]\n[^{}\[\]]*[}\]]`)

var lineBreaks = regexp.MustCompile(`\n *`)

// bodyText is a body with each override on a line of its own.
func bodyText(t *testing.T, body []byte) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, json.Indent(&b, body, "", "  "))
	flat := innermost.ReplaceAllStringFunc(b.String(), func(object string) string {
		line := lineBreaks.ReplaceAllString(object, " ")
		return line[:1] + line[2:len(line)-2] + line[len(line)-1:]
	})
	return flat + "\n"
}
