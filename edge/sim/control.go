package sim

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/exactjson"
	"github.com/seawall-dev/seawall/edge/mem"
)

// The control is how a test or a demonstration reaches behind the platform. It
// asks for no credential, and answers only to this machine unless told
// otherwise. Answers are plain JSON without an envelope; failures are
// {"error", "hint"}. No control request is in the transcript or counts for a
// quirk or the rate limit.

const controlPrefix = "/__sim/"

// maxControlBody bounds the bodies of control requests, in bytes.
const maxControlBody = 16 << 20

// controlError is a failure with what to try instead.
type controlError struct {
	status  int
	problem error
	hint    string
}

func (e *controlError) Error() string { return e.problem.Error() }

func refuse(problem error, hint string) error {
	return &controlError{http.StatusBadRequest, problem, hint}
}

// control is a server's control.
type control struct{ *Server }

type controlFunc func(r *http.Request, body []byte) (any, error)

func (s control) controlRoutes() map[string]controlFunc {
	return map[string]controlFunc{
		"GET /__sim/transcript":                               s.getTranscript,
		"DELETE /__sim/transcript":                            s.deleteTranscript,
		"GET /__sim/state":                                    s.getState,
		"GET /__sim/tokens":                                   s.getTokens,
		"GET /__sim/quirks":                                   s.getQuirks,
		"PUT /__sim/quirks":                                   s.putQuirks,
		"PUT /__sim/clock":                                    s.putClock,
		"PUT /__sim/zones/{zone}/entrypoint":                  s.putEntryPoint,
		"PUT /__sim/accounts/{account}/rulesets/{ruleset_id}": s.putRuleset,
	}
}

func (s control) handler() http.Handler {
	mux := http.NewServeMux()
	routes := s.controlRoutes()
	for pattern, serve := range routes {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxControlBody))
			if err != nil {
				writeControl(w, nil, refuse(err, "send a smaller body"))
				return
			}
			result, err := serve(r, body)
			writeControl(w, result, err)
		})
	}
	hint := "there are: " + strings.Join(slices.Sorted(maps.Keys(routes)), ", ")
	mux.HandleFunc(controlPrefix, func(w http.ResponseWriter, r *http.Request) {
		writeControl(w, nil, &controlError{http.StatusNotFound, errors.New("no such control: " + r.Method + " " + r.URL.Path), hint})
	})
	return s.localOnly(mux)
}

// localOnly keeps other machines out.
func (s control) localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.config.AllowRemoteControl && !isLoopback(r.RemoteAddr) {
			writeControl(w, nil, &controlError{
				http.StatusForbidden, errors.New("the control is only for the machine the simulator runs on"), "allow remote control when starting it",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isLoopback(remote string) bool {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return false
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

func writeControl(w http.ResponseWriter, result any, err error) {
	status := http.StatusOK
	if err != nil {
		var known *controlError
		if !errors.As(err, &known) {
			known = &controlError{http.StatusBadRequest, err, "look at GET /__sim/state"}
		}
		if errors.Is(known.problem, edge.ErrNotFound) {
			known.status = http.StatusNotFound
		}
		status = known.status
		result = map[string]string{"error": known.Error(), "hint": known.hint}
	}
	w.Header().Set("Content-Type", contentTypeJSON)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(result) // a client that has gone away is no failure of ours
}

func (s control) getTranscript(*http.Request, []byte) (any, error) { return s.Transcript(), nil }

func (s control) deleteTranscript(*http.Request, []byte) (any, error) {
	s.ClearTranscript()
	return []Entry{}, nil
}

// getState is a seed, without the values of tokens.
func (s control) getState(*http.Request, []byte) (any, error) {
	state := s.Platform.State()
	for i := range state.Tokens {
		state.Tokens[i].Value = ""
	}
	return state, nil
}

func (s control) getTokens(*http.Request, []byte) (any, error) {
	return slices.Concat([]mem.SeedToken{}, s.Platform.Tokens()), nil
}

func (s control) getQuirks(*http.Request, []byte) (any, error) { return s.faults.list(), nil }

func (s control) putQuirks(_ *http.Request, body []byte) (any, error) {
	var list []string
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, refuse(errors.New(exactjson.Reason(err, "the body")), `send a list such as ["reorder", "throttle=3"]; [] takes all away`)
	}
	if err := s.SetQuirks(list); err != nil {
		return nil, refuse(err, "seawall sim --list-quirks explains them all")
	}
	return s.faults.list(), nil
}

type clockSetting struct {
	At time.Time `json:"at"`
}

// putClock takes an instant, or a day for its first moment in UTC.
func (s control) putClock(_ *http.Request, body []byte) (any, error) {
	var setting struct {
		At string `json:"at"`
	}
	err := json.Unmarshal(body, &setting)
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, wrong := time.Parse(layout, setting.At); err == nil && wrong == nil && !at.IsZero() {
			s.SetClock(at)
			return clockSetting{s.clock.Now()}, nil
		}
	}
	return nil, refuse(errors.New("the body is no time"), `send {"at": "2025-06-15T00:00:00Z"}, or {"at": "2025-06-15"}`)
}

// putEntryPoint plants drift; null takes the entry point away. The ruleset says of which phase
// it is, if not of that of managed rulesets.
func (s control) putEntryPoint(r *http.Request, body []byte) (any, error) {
	zone := edge.ZoneScope(edge.ZoneID(r.PathValue("zone")))
	const hint = "send a ruleset such as GET /__sim/state shows it under entrypoint, or null to take it away"
	var ruleset *edge.Ruleset
	if err := json.Unmarshal(body, &ruleset); err != nil {
		return nil, refuse(errors.New(exactjson.Reason(err, "the body")), hint)
	}
	phase := edge.PhaseFirewallManaged
	var err error
	if ruleset == nil {
		err = s.Platform.RemoveEntryPoint(zone)
	} else {
		phase = cmp.Or(ruleset.Phase, phase)
		err = s.Platform.SetEntryPoint(zone, *ruleset)
	}
	if err != nil {
		return nil, refuse(err, hint)
	}
	return s.Platform.Stored(edge.Place{Scope: zone, Phase: phase}), nil
}

// putRuleset publishes a ruleset of an account, as the vendor does weekly.
func (s control) putRuleset(r *http.Request, body []byte) (any, error) {
	account, id := edge.AccountID(r.PathValue("account")), edge.RulesetID(r.PathValue("ruleset_id"))
	const hint = "send a ruleset such as GET /__sim/state shows it under accounts"
	var ruleset edge.Ruleset
	if err := json.Unmarshal(body, &ruleset); err != nil {
		return nil, refuse(errors.New(exactjson.Reason(err, "the body")), hint)
	}
	if ruleset.ID != "" && ruleset.ID != id {
		return nil, refuse(errors.New("the ruleset has another id than the path"), "leave the id out of the body")
	}
	ruleset.ID = id
	if err := s.Platform.SetRuleset(account, ruleset); err != nil {
		return nil, refuse(err, hint)
	}
	for _, a := range s.Platform.State().Accounts {
		for _, stored := range a.Rulesets {
			if a.ID == account && stored.ID == id {
				return stored, nil
			}
		}
	}
	return nil, nil
}
