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

	effectBlocks = "blocks"

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
		"Always 1; the label is the version.",
	}
	readiness = metric{
		"seawall_ready", "gauge", nil,
		"1 while /readyz answers 200, else 0.",
	}
	runsTotal = metric{
		"seawall_runs_total", "counter",
		[]label{triggers, {"outcome", []string{outcomeConverged, outcomePartial, outcomeFailed}}},
		"Finished runs and sweeps: converged if everything in scope is as the newest commit declares, failed if the whole run failed, else partial.",
	}
	runDuration = metric{
		"seawall_run_duration_seconds", "histogram",
		[]label{triggers},
		"Duration of runs; of a sweep from its first read to its last.",
	}
	lastRun = metric{
		"seawall_last_run_timestamp_seconds", "gauge",
		[]label{triggers},
		"When the last run ended, with any outcome.",
	}
	lastSweep = metric{
		"seawall_last_sweep_timestamp_seconds", "gauge", nil,
		"When the last complete sweep, or the last run over all zones, ended without failing as a whole.",
	}
	lastConverged = metric{
		"seawall_last_converged_timestamp_seconds", "gauge", nil,
		"When a run over all declared zones last ended with all of them in sync with the newest commit.",
	}
	declaredZones = metric{
		"seawall_declared_zones", "gauge", nil,
		"Declared zones, as of the last run over all of them.",
	}
	zones = metric{
		"seawall_zones", "gauge",
		[]label{{"state", zoneStateNames()}},
		"Zones by state, as found by the last run over all of them, before any change. Changed includes weakening; a zone can be in several states.",
	}
	tokens = metric{
		"seawall_tokens", "gauge",
		[]label{{"state", tokenStates}},
		"Declared tokens by their state after the last full run; orphan counts existing tokens that are not declared. " +
			"Quarantined tokens need seawall token resolve.",
	}
	tokenFindings = metric{
		"seawall_token_findings", "gauge",
		[]label{{"kind", namesOf(diff.FindingKinds())}},
		"Recommendations for declared tokens, as of the last full run. seawall plan lists them, docs/tokens.md explains each kind.",
	}
	tokensExpiring = metric{
		"seawall_tokens_expiring", "gauge",
		[]label{{"within", horizonNames()}},
		"Tokens in use that expire within this time of the last full run, or have expired, and have no automatic successor. " +
			"Counts are cumulative. A rotating token counts only when it has expired.",
	}
	acceptancesEnding = metric{
		"seawall_acceptances_ending", "gauge",
		[]label{{"within", acceptanceNames()}},
		"Acceptances of skip rules, and exceptions, whose last day is over within this time of the last full run, or is over. Counts are cumulative; one that zones share counts once. " +
			"After the end of an acceptance a zone is bypassed while the skip rule acts; an exception is switched off.",
	}
	nextExpiry = metric{
		"seawall_token_next_expiry_timestamp_seconds", "gauge", nil,
		"When the first token in use expires, including rotating tokens; no value if no token expires.",
	}
	deprecations = metric{
		"seawall_deprecations", "gauge",
		[]label{{"state", deprecationStates}},
		"Calls of declared integrations and of Seawall itself that use deprecated API features, as of the last full run. seawall plan lists them.",
	}
	changesTotal = metric{
		"seawall_changes_total", "counter",
		[]label{result, direction},
		"Changes to write, by their outcome.",
	}
	nonConvergent = metric{
		"seawall_nonconvergent_deployments", "gauge", nil,
		"Deployments whose change the platform accepted but did not keep; Seawall tries again after 15 minutes, then with growing delays.",
	}
	heldZones = metric{
		"seawall_held_zones", "gauge", nil,
		"Held zones, as of the last run: Seawall reports differences there but does not write. seawall hold list lists them.",
	}
	wavesHalted = metric{
		"seawall_waves_halted", "gauge", nil,
		"1 while a rollout in waves is halted; seawall waves resume continues it.",
	}
	requestsTotal = metric{
		"seawall_requests_total", "counter", nil,
		"HTTP requests sent to the platform by finished runs.",
	}
	commitHeld = metric{
		"seawall_commit_held", "gauge", nil,
		"1 while the newest commit is not accepted, because it is invalid, shrinks too much or cannot be fetched. The last good commit stays in force.",
	}
	commitProblems = metric{
		"seawall_commit_problems", "gauge",
		[]label{{"severity", []string{severityError, severityWarning}}},
		"Errors and warnings in the newest evaluated commit.",
	}
)

// Those that are worked out when they are read.
var (
	lastFetch = metric{
		"seawall_last_fetch_timestamp_seconds", "gauge", nil,
		"When git was last fetched successfully.",
	}
	lastObservation = metric{
		"seawall_last_observation_timestamp_seconds", "gauge", nil,
		"When a zone was last read successfully.",
	}
	zoneOutcomes = metric{
		"seawall_zone_outcomes", "gauge",
		[]label{{"outcome", namesOf(inspect.Outcomes())}},
		"Declared zones by the current outcome of their last check; a zone counts once.",
	}
	oldestDrift = metric{
		"seawall_oldest_drift_age_seconds", "gauge", nil,
		"Age of the oldest drift that is not corrected; 0 if there is none.",
	}
	ledgerPutBack = metric{
		"seawall_ledger_put_back", "gauge", nil,
		"1 while nothing is written, because the ledger was put back to an earlier time and git was not fetched since, else 0.",
	}
	queueZones = metric{
		"seawall_queue_zones", "gauge",
		[]label{priorities, {"state", []string{queueLater, queueDue, queueAtWork}}},
		"Zones in the queue: due later, due now, and in progress.",
	}
	queueOldest = metric{
		"seawall_queue_oldest_due_age_seconds", "gauge",
		[]label{priorities},
		"How long the oldest due zone has been due; 0 if none is.",
	}
	workInProgress = metric{
		"seawall_work_in_progress", "gauge", nil,
		"Zones that workers process now.",
	}
	workOldest = metric{
		"seawall_work_oldest_age_seconds", "gauge", nil,
		"Age of the oldest work in progress; 0 if there is none.",
	}
	budgetLeft = metric{
		"seawall_budget_requests_left", "gauge", nil,
		"Requests that may be sent to the platform now without waiting.",
	}
	budgetWaited = metric{
		"seawall_budget_waited_seconds_total", "counter",
		[]label{{"what", []string{waitedZones, waitedRequests}}},
		"How long work has waited for the request budget, in total: zones that were due but not started, and single requests.",
	}
	credentialDown = metric{
		"seawall_credential_down", "gauge",
		[]label{{"credential", nil}},
		"1 while Seawall sends only probes with this credential, because it is rejected or its platform is down. The label names its accounts, or is default.",
	}
	credentialZones = metric{
		"seawall_credential_zones_due", "gauge",
		[]label{{"credential", nil}},
		"Zones of this credential that are due now.",
	}
	credentialLeft = metric{
		"seawall_credential_requests_left", "gauge",
		[]label{{"credential", nil}},
		"Requests that may be sent with this credential now without waiting.",
	}
	outages = metric{
		"seawall_outages", "gauge",
		[]label{{"subject", outageSubjects}},
		"Current outages, by subject.",
	}
	databaseUp = metric{
		"seawall_database_up", "gauge", nil,
		"1 while the database that replicas share answers, else 0; no value where the ledger is a file.",
	}
	replicasRun = metric{
		"seawall_replicas", "gauge", nil,
		"Replicas that run, as the database says; no value while it does not answer, and where the ledger is a file.",
	}
	leaseFree = metric{
		"seawall_lease_free", "gauge",
		[]label{{"lease", nil}},
		"1 while no replica has this lease, so that its work is not done; no value while the database does not answer. The label is commits, tokens, or credential and its path in the configuration.",
	}
)

// Those that are counted where they happen.
var (
	writesTotal = metric{
		"seawall_writes_total", "counter",
		[]label{{"trigger", []string{triggerCommit, triggerDrift, triggerToken}}, direction},
		"Writes sent to the platform, by trigger.",
	}
	platformErrors = metric{
		"seawall_platform_errors_total", "counter",
		[]label{{"code", errorCodes()}},
		"Failed requests to the platform, each attempt counted: by the code of the answer, or by the kind of failure.",
	}
	reviewFailures = metric{
		"seawall_review_failures_total", "counter",
		[]label{{"what", []string{reviewRound, reviewPullRequest}}},
		"Failed reviews of pull requests: whole rounds, and single pull requests.",
	}
	headsRefused = metric{
		"seawall_pull_request_heads_refused", "gauge", nil,
		"Open pull requests whose head is not fetched, because it is over a limit of forge.limits or ended its worker.",
	}
	rulesetVersions = metric{
		"seawall_ruleset_versions_total", "counter", nil,
		"New versions of managed rulesets that were seen, counted in each account. seawall radar says what they change.",
	}
	rulesetZones = metric{
		"seawall_ruleset_version_zones_total", "counter",
		[]label{{"effect", []string{string(diff.Weakens), effectBlocks, string(diff.Strengthens)}}},
		"Zones for which a new version of a managed ruleset weakens or strengthens protection, or blocks the declaration.",
	}
	notifications = metric{
		"seawall_notifications_total", "counter",
		[]label{{"outcome", NotificationOutcomes}},
		"Tries to send a notification, by outcome: sent, failed (it is tried again), or refused by the other side (it is dropped).",
	}
	webhooks = metric{
		"seawall_webhooks_total", "counter",
		[]label{{"outcome", WebhookOutcomes}},
		"Requests to /hook/git, by outcome: woke (started a sync), ignored (another event), and those that were refused.",
	}
	logins = metric{
		"seawall_logins_total", "counter",
		[]label{{"outcome", LoginOutcomes}},
		"Logins to the pages, by outcome: logged_in, logged_out, and those that were refused. A request of a person without a role is one, too.",
	}
)

// WebhookOutcomes are the outcomes of requests to the webhooks; see package forge.
var WebhookOutcomes = []string{"woke", "ignored", "unverified", "unreadable", "throttled", "no_post", "unready"}

// LoginOutcomes are the outcomes of logins; see package login.
var LoginOutcomes = []string{
	"logged_in", "logged_out", "no_state", "denied", "no_provider", "bad_token", "bad_header", "bad_certificate", "cross_origin", "no_role",
}

// NotificationOutcomes are the outcomes of tries to send a notification; see package notify.
var NotificationOutcomes = []string{"sent", "failed", "refused"}

var priorities = label{"priority", []string{"push", "bulk", "released", "retry", "sweep"}}

// liveMetrics returns those that are worked out when they are read.
func liveMetrics() []metric {
	return []metric{
		lastFetch, lastObservation, zoneOutcomes, oldestDrift, ledgerPutBack, queueZones, queueOldest, workInProgress, workOldest, budgetLeft, budgetWaited,
		credentialDown, credentialZones, credentialLeft, outages, databaseUp, replicasRun, leaseFree,
	}
}

// toldMetrics returns those that are told by reports or counted where they happen.
func toldMetrics() []metric {
	return []metric{
		buildInfo, runsTotal, runDuration, lastRun, lastSweep, lastConverged,
		declaredZones, zones, tokens, tokenFindings, tokensExpiring, nextExpiry, acceptancesEnding, deprecations, changesTotal, nonConvergent, heldZones, wavesHalted, requestsTotal, commitHeld, commitProblems,
		writesTotal, platformErrors, reviewFailures, headsRefused, rulesetVersions, rulesetZones, webhooks, notifications, logins,
	}
}

// namesOf are the values of a label, which are words of another package.
func namesOf[T ~string](words []T) (names []string) {
	for _, word := range words {
		names = append(names, string(word))
	}
	return names
}

func horizonNames() []string { return namesWithin(horizons) }

func acceptanceNames() []string { return namesWithin(acceptanceHorizons) }

func namesWithin(all []horizon) (names []string) {
	for _, h := range all {
		names = append(names, h.name)
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
