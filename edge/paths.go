package edge

import "net/url"

// The paths of rulesets, relative to the base address. Those of an account's own entry
// point, of a zone's list and of versions are known beyond the reference.

// RulesetsPath is the path that lists rulesets, and creates one.
func RulesetsPath(scope Scope) string { return scope.path() + "/rulesets" }

// RulesetPath is the path of one ruleset.
func RulesetPath(scope Scope, id RulesetID) string { return RulesetsPath(scope) + "/" + string(id) }

// VersionPath is the path of a version of a ruleset.
func VersionPath(scope Scope, id RulesetID, version string) string {
	return RulesetPath(scope, id) + "/versions/" + url.PathEscape(version)
}

// EntryPointPath is the path of the entry point of a phase.
func EntryPointPath(scope Scope, phase Phase) string {
	return RulesetsPath(scope) + "/phases/" + string(phase) + "/entrypoint"
}

// RulesPath is the path that adds a rule to an entry point.
func RulesPath(scope Scope, entryPoint RulesetID) string {
	return RulesetPath(scope, entryPoint) + "/rules"
}

// RulePath is the path of one rule of an entry point.
func RulePath(scope Scope, entryPoint RulesetID, rule RuleID) string {
	return RulesPath(scope, entryPoint) + "/" + string(rule)
}
