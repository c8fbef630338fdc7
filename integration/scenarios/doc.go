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
//	plan.txt         what seawall plan shows
//	apply.txt        what seawall apply sends, its results, and what a plan says then
//
// The zone is shop.example of the simulator, which runs the core ruleset without
// overrides. The platform is the one of the profile vendor, or that of a line
// "platform: PROFILE [QUIRK …]" in the archive's comment.
//
// go test ./integration/scenarios -update writes plan.txt and apply.txt.
package scenarios
