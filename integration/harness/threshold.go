package harness

import (
	"context"
	"net/http"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
)

// Threshold is the score at which a deployment acts; zero when it is not overridden.
func Threshold(rule edge.Rule) int {
	if rule.ActionParameters == nil || rule.ActionParameters.Overrides == nil {
		return 0
	}
	for _, override := range rule.ActionParameters.Overrides.Rules {
		if override.ScoreThreshold != nil {
			return *override.ScoreThreshold
		}
	}
	return 0
}

// LastOfCore is the rule by which the core ruleset of a fleet blocks.
func LastOfCore(server *sim.Server) edge.RuleID {
	for _, ruleset := range server.Platform.State().Accounts[0].Rulesets {
		if ruleset.ID == mem.CoreRuleset {
			last, _ := ruleset.Last()
			return last.ID
		}
	}
	return ""
}

// SetThreshold gives a zone of a fleet a threshold behind the back of every client, by that rule.
func SetThreshold(server *sim.Server, last edge.RuleID, zone, score int) error {
	id := mem.FleetZone(zone)
	entryPoint, err := server.Platform.EntryPoint(context.Background(), id, edge.PhaseFirewallManaged)
	if err != nil {
		return err
	}
	entryPoint.Rules[0].ActionParameters.Overrides = &edge.Overrides{Rules: []edge.RuleOverride{
		{ID: last, Action: new(edge.ActionBlock), ScoreThreshold: &score},
	}}
	return server.Platform.SetEntryPoint(id, entryPoint)
}

// LiveThreshold is the threshold that a zone of a fleet has; 0 when none is overridden.
func LiveThreshold(server *sim.Server, zone int) int {
	entryPoint, err := server.Platform.EntryPoint(context.Background(), mem.FleetZone(zone), edge.PhaseFirewallManaged)
	if err != nil {
		return 0
	}
	return Threshold(entryPoint.Rules[0])
}

// StatusWriter remembers the status of an answer; 0 while there is none.
type StatusWriter struct {
	http.ResponseWriter
	Status int
}

// WriteHeader implements [http.ResponseWriter].
func (w *StatusWriter) WriteHeader(status int) {
	w.Status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *StatusWriter) Write(data []byte) (int, error) {
	if w.Status == 0 {
		w.Status = http.StatusOK
	}
	return w.ResponseWriter.Write(data)
}

// Unwrap is for [http.ResponseController].
func (w *StatusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
