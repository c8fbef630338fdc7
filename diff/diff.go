// Package diff holds the types of a plan: what should be ([desired.State]) and
// what is ([Live]) go in, and a [Plan] comes out. It has the changes that would make
// the second agree with the first, each with the line that asked for it, what it
// would send, and whether it strengthens or weakens protection.
//
// The work is done by the packages below:
//
//	planner     desired and live state → plan         (Make)
//	deployment  one deployment → its change           (resolve, merge, compare, direction)
//	token       declared tokens and records → changes
//	guard       plan → plan with refusals
//	render      plan → text, JSON, Markdown
//	planfile    plan → saved plan, and what differs from it
//
// A [Change] is one of a few operations ([Operation]): there is no change with a
// token's creation and a deployment's rule at once.
//
// The law that holds it together: applying a plan and planning again yields an
// empty plan, and nothing that was not declared has changed unless the
// declaration says "remove".
//
// Everything in diff and below is pure: no clock, no network, no logger, no files.
// This package imports edge and desired, and none of the packages below but
// internal ones.
package diff
