package status

import (
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// metric describes one metric. Its collector and its row in docs/metrics.md are
// both made from it.
type metric struct {
	name   string
	kind   string // "counter", "gauge" or "histogram"
	labels []label
	help   string
}

// label is a label and all values it can take: none of them is the name of a
// zone, a commit or anything else of which there may be ten thousand.
type label struct {
	name   string
	values []string // nil: one value, which is known when the daemon starts
}

const (
	outcomeConverged = "converged"
	outcomePartial   = "partial"
	outcomeFailed    = "failed"

	severityError   = "error"
	severityWarning = "warning"
)

var (
	triggers  = label{"trigger", []string{string(reconcile.TriggerManual), string(reconcile.TriggerSync), string(reconcile.TriggerSweep)}}
	direction = label{"direction", []string{string(diff.Strengthens), string(diff.Weakens), string(diff.Neutral)}}
	result    = label{"outcome", []string{
		string(reconcile.Converged), string(reconcile.Failed), string(reconcile.NonConvergent), string(reconcile.NotStarted),
		string(reconcile.Quarantined),
	}}
)

var (
	buildInfo = metric{
		"seawall_build_info", "gauge",
		[]label{{"version", nil}},
		"Always 1; the label says which version runs.",
	}
	readiness = metric{
		"seawall_ready", "gauge", nil,
		"1 while /readyz answers 200, else 0.",
	}
	runsTotal = metric{
		"seawall_runs_total", "counter",
		[]label{triggers, {"outcome", []string{outcomeConverged, outcomePartial, outcomeFailed}}},
		"Runs that ended, a sweep being one: converged when all in scope agrees with the newest commit, failed when the run as a whole did, else partial.",
	}
	runDuration = metric{
		"seawall_run_duration_seconds", "histogram",
		[]label{triggers},
		"How long runs took; a sweep, from its first look to its last.",
	}
	lastRun = metric{
		"seawall_last_run_timestamp_seconds", "gauge",
		[]label{triggers},
		"When the last run ended, however it ended.",
	}
	lastSweep = metric{
		"seawall_last_sweep_timestamp_seconds", "gauge", nil,
		"When the last look at every declared zone ended without failing as a whole: a sweep that has come around, or one run.",
	}
	lastConverged = metric{
		"seawall_last_converged_timestamp_seconds", "gauge", nil,
		"When a run over every declared zone last ended with all of them as the newest commit says.",
	}
	declaredZones = metric{
		"seawall_declared_zones", "gauge", nil,
		"Zones declared, as of the last look at all of them.",
	}
	zones = metric{
		"seawall_zones", "gauge",
		[]label{{"state", zoneStateNames()}},
		"Zones by what the last look at all of them found before anything was changed; changed counts weakening, and a zone can be in several states.",
	}
	tokens = metric{
		"seawall_tokens", "gauge",
		[]label{{"state", tokenStates}},
		"Declared tokens by what the last run over everything left them as; orphan counts those that live and nothing declares. " +
			"Quarantined ones wait for a person.",
	}
	tokenFindings = metric{
		"seawall_token_findings", "gauge",
		[]label{{"kind", findingKinds()}},
		"Unwise things about declared tokens, as of the last run over everything; seawall plan says which, docs/tokens.md what each kind means.",
	}
	tokensExpiring = metric{
		"seawall_tokens_expiring", "gauge",
		[]label{{"within", horizonNames()}},
		"Tokens in use that end within that time of the last run over everything, or have ended, with nothing to follow them by itself. " +
			"Each count holds the shorter ones; one that rotates counts once it has ended.",
	}
	nextExpiry = metric{
		"seawall_token_next_expiry_timestamp_seconds", "gauge", nil,
		"When the first of the tokens in use ends, rotating ones among them; no value while none of them has an end.",
	}
	deprecations = metric{
		"seawall_deprecations", "gauge",
		[]label{{"state", deprecationStates}},
		"Calls that lean on what goes away, of declared integrations and of Seawall itself, as of the last run over everything; seawall plan says which.",
	}
	changesTotal = metric{
		"seawall_changes_total", "counter",
		[]label{result, direction},
		"Changes that were to be written, by what became of them.",
	}
	nonConvergent = metric{
		"seawall_nonconvergent_deployments", "gauge", nil,
		"Deployments whose change the platform took and did not keep; it is tried again after 15 minutes, then ever later.",
	}
	heldZones = metric{
		"seawall_held_zones", "gauge", nil,
		"Zones that people hold, as of the last run: what differs there is told and not written. seawall hold list names them.",
	}
	wavesHalted = metric{
		"seawall_waves_halted", "gauge", nil,
		"1 while a commit on its way through the waves is halted, until somebody says seawall waves resume.",
	}
	requestsTotal = metric{
		"seawall_requests_total", "counter", nil,
		"HTTP requests sent to the platform by runs that ended.",
	}
	commitHeld = metric{
		"seawall_commit_held", "gauge", nil,
		"1 while the newest commit is not acted on, because it is invalid, shrinks too much or cannot be fetched; the last good one stays in force.",
	}
	commitProblems = metric{
		"seawall_commit_problems", "gauge",
		[]label{{"severity", []string{severityError, severityWarning}}},
		"Mistakes and warnings in the newest commit that was looked at.",
	}
)

// Those that are worked out when they are read.
var (
	lastFetch = metric{
		"seawall_last_fetch_timestamp_seconds", "gauge", nil,
		"When git was last fetched with success.",
	}
	lastObservation = metric{
		"seawall_last_observation_timestamp_seconds", "gauge", nil,
		"When a zone was last read with success.",
	}
	zoneOutcomes = metric{
		"seawall_zone_outcomes", "gauge",
		[]label{{"outcome", outcomeNames()}},
		"Declared zones by what the last look at each has come to, now; a zone counts once.",
	}
	oldestDrift = metric{
		"seawall_oldest_drift_age_seconds", "gauge", nil,
		"For how long the oldest drift has been known that is not healed; 0 while there is none.",
	}
	queueZones = metric{
		"seawall_queue_zones", "gauge",
		[]label{priorities, {"state", []string{queueLater, queueDue, queueAtWork}}},
		"Zones in the queue: to be looked at later, due now, and at work.",
	}
	queueOldest = metric{
		"seawall_queue_oldest_due_age_seconds", "gauge",
		[]label{priorities},
		"For how long the first zone that is due has been due; 0 while none is.",
	}
	workInProgress = metric{
		"seawall_work_in_progress", "gauge", nil,
		"Zones that workers are at.",
	}
	workOldest = metric{
		"seawall_work_oldest_age_seconds", "gauge", nil,
		"For how long the oldest work in progress goes on; 0 while there is none.",
	}
	budgetLeft = metric{
		"seawall_budget_requests_left", "gauge", nil,
		"Requests that may be sent to the platform now without waiting.",
	}
	budgetWaited = metric{
		"seawall_budget_waited_seconds_total", "counter",
		[]label{{"what", []string{waitedZones, waitedRequests}}},
		"How long the request budget has kept work waiting: the time in which zones were due and not begun, and that of single requests, added up.",
	}
	outages = metric{
		"seawall_outages", "gauge",
		[]label{{"subject", outageSubjects}},
		"Outages that last, by what they are of.",
	}
)

// Those that are counted where they happen.
var (
	writesTotal = metric{
		"seawall_writes_total", "counter",
		[]label{{"trigger", []string{triggerCommit, triggerDrift, triggerToken}}, direction},
		"Writes that were sent to the platform, by what they were because of.",
	}
	platformErrors = metric{
		"seawall_platform_errors_total", "counter",
		[]label{{"code", errorCodes()}},
		"Requests to the platform that failed, each try by itself: by the code of the answer, or by what came instead of one.",
	}
	reviewFailures = metric{
		"seawall_review_failures_total", "counter",
		[]label{{"what", []string{reviewRound, reviewPullRequest}}},
		"Reviews of pull requests that failed: rounds in which none could be looked at, and single ones.",
	}
)

var priorities = label{"priority", []string{"push", "bulk", "released", "retry", "sweep"}}

// liveMetrics returns those that are worked out when they are read.
func liveMetrics() []metric {
	return []metric{
		lastFetch, lastObservation, zoneOutcomes, oldestDrift, queueZones, queueOldest, workInProgress, workOldest, budgetLeft, budgetWaited, outages,
	}
}

func outcomeNames() []string {
	var names []string
	for _, o := range inspect.Outcomes() {
		names = append(names, string(o))
	}
	return names
}

// catalogue returns all of the above, in the order of the documentation.
func catalogue() []metric {
	return append([]metric{
		buildInfo, readiness, runsTotal, runDuration, lastRun, lastSweep, lastConverged,
		declaredZones, zones, tokens, tokenFindings, tokensExpiring, nextExpiry, deprecations, changesTotal, nonConvergent, heldZones, wavesHalted, requestsTotal, commitHeld, commitProblems,
		writesTotal, platformErrors, reviewFailures,
	}, liveMetrics()...)
}

func findingKinds() []string {
	var names []string
	for _, kind := range diff.FindingKinds() {
		names = append(names, string(kind))
	}
	return names
}

func horizonNames() []string {
	names := make([]string, len(horizons))
	for i, h := range horizons {
		names[i] = h.name
	}
	return names
}

func zoneStateNames() []string {
	names := make([]string, len(zoneStates))
	for i, state := range zoneStates {
		names[i] = state.name
	}
	return names
}
