package edge

// Call names a call of the contract.
type Call string

// The calls, named like the methods of [Platform], [TokenReader] and [TokenWriter]; those that
// write rulesets, like the functions that make a [Write].
const (
	CallRulesets         Call = "Rulesets"
	CallRuleset          Call = "Ruleset"
	CallRulesetVersion   Call = "RulesetVersion"
	CallEntryPoint       Call = "EntryPoint"
	CallZones            Call = "Zones"
	CallZone             Call = "Zone"
	CallAccounts         Call = "Accounts"
	CallUpdateRule       Call = "UpdateRule"
	CallCreateEntryPoint Call = "CreateEntryPoint"
	CallAddRule          Call = "AddRule"
	CallDeleteRule       Call = "DeleteRule"

	CallUserTokens       Call = "UserTokens"
	CallUserToken        Call = "UserToken"
	CallVerifyToken      Call = "VerifyToken"
	CallPermissionGroups Call = "PermissionGroups"
	CallCreateToken      Call = "CreateToken"
	CallUpdateToken      Call = "UpdateToken"
	CallDeleteToken      Call = "DeleteToken"
	CallRollToken        Call = "RollToken"
)

// InReference reports whether the reference shows a call for scopes of a level: all that the
// profile "documented" offers. What else there is, is known beyond it (profile "extended"):
// the calls of the other level, too.
func InReference(call Call, level Level) bool {
	shown, ok := inReference[call]
	return ok && shown == level
}

var inReference = map[Call]Level{
	CallRulesets: LevelAccount, CallRuleset: LevelAccount, CallEntryPoint: LevelZone, CallUpdateRule: LevelZone,
	CallCreateToken: LevelCredential,
}
