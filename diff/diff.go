// Package diff holds the types of a plan: what should be ([desired.State]) and
// what is ([Live]) go in, and a [Plan] comes out. It has the changes that would make
// the second agree with the first, each with the line that asked for it, what it
// would send, and whether it strengthens or weakens protection.
//
// The work is done by the packages below:
//
//	planner     desired and live state → plan         (Make, and the table of kinds)
//	deployment  one deployment → its change           (resolve, merge, compare, direction)
//	token       declared tokens and records → changes
//	rulesets    a declared name → managed ruleset
//	guard       plan → plan with refusals
//	render      plan → text, JSON, Markdown
//	planfile    plan → saved plan, and what differs from it
//
// A [Kind] is something that Seawall keeps as git says. A [Change] is one of a few operations
// ([Operation]), in two families: on the rules of an entry point and on secrets. Whoever stands
// between asks the operation and the level of the change, and never which kind it is of.
//
// The law that holds it together: applying a plan and planning again yields an
// empty plan, and nothing that was not declared has changed unless the
// declaration says "remove".
//
// Everything in diff and below is pure: no clock, no network, no logger, no files.
// This package imports edge and desired, and none of the packages below but
// internal ones.
package diff
