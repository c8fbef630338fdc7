// Package scenarios shows what Seawall plans and sends, one file for each case of live
// against declared.
//
// A scenario is an archive in testdata (txtar) of steps, which are taken from the first to
// the last:
//
//	shop.cue         a commit with this file; an empty one deletes it
//	overrides.json   someone sets these overrides of the zone's execute rule
//	rule.json        someone sets these members of the execute rule
//	entrypoint.json  someone makes these the rules of the zone; null: it has no entry point
//	core.json        the platform publishes a version of the core ruleset: rules by ref
//	first.json       someone puts this rule before all others of the zone
//	LEVEL/PHASE.json someone makes these the rules of the entry point of a phase, of the
//	                 zone or of its account: account/http_request_firewall_custom.json
//	team.json        someone makes these the rules of the account's custom ruleset
//	plan.txt         what seawall plan shows
//	plan.json        what seawall plan -o json says of skip rules, and counts that are not zero
//	apply.txt        what seawall apply sends, its results, and what a plan says then
//	status.txt       what a daemon sends in its first sweep, and what seawall status then
//	                 shows of the zone
//
// Rules are completed as the platform does: with an id, and a ref.
//
// The zone is shop.example of the simulator, which runs the core ruleset without
// overrides. The platform is the one of the profile vendor, or that of a line
// "platform: PROFILE [QUIRK …]" in the archive's comment. Skip rules of zones are looked for in
// the phase of custom rules, or as a line "looks at: PHASE …" or "looks at: nothing" says. A line
// "credential: NAME" has another one of the simulator's than that for rulesets.
//
// The rules of a line "on record: REF …" were proved before: they are Seawall's, and no rules of
// others that get declared.
//
// Every step is at one moment, but status.txt, which takes two hours.
//
// go test ./integration/scenarios -update writes what the steps show.
package scenarios
