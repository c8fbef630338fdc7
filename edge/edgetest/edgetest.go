// Package edgetest holds every implementation of the contract of package edge
// to the same behaviour: the memory twin, the client over HTTP, and whatever
// else says it is the platform.
//
//	func TestConformance(t *testing.T) {
//		edgetest.Run(t, func(t testing.TB) edgetest.Fixture {
//			platform, err := mem.New(mem.Config{})
//			…
//			return edgetest.Fixture{Platform: platform, Account: mem.Account, …}
//		})
//	}
//
// The cases are told from easy to nasty and read as a description of the
// platform. They hold under every quirk of a server: what is not known of the
// real service (does an update replace or merge?) is either a field of
// [Fixture] or not asserted. An update of which the outcome is unknown is
// followed by a read and, where it had no effect, by another update: what a
// caller of the contract has to do anyway. Where a token has no read the suite
// counts, behind the contract, what exists.
package edgetest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// Fixture is a platform and what it holds. Each case asks for one of its own
// and may leave it changed.
type Fixture struct {
	Platform edge.Platform
	Account  edge.AccountID
	Core     edge.RulesetID // a managed ruleset of the account whose last rule has a score threshold
	Zone     edge.Scope     // deploys Core; its overrides are the suite's to change
	Other    edge.Scope     // has an entry point of its own
	Bare     edge.Scope     // exists, without an entry point
	Merges   bool           // an update keeps what its body leaves out
	Denied   Client         // the same platform with a wrong credential; nil where there are none

	Forbid     func(edge.Scope) error   // takes the credential's permissions for one zone away; nil where there are none
	Tokens     edge.Tokens              // those of the same platform
	TokenCount func() int               // how many there are; nil where no one can look
	SignIn     func(edge.Secret) Client // the same platform with another credential; nil where there are none
	User       string                   // tag of the user of Tokens; empty where it is not known
	Mute       bool                     // no write is ever answered, though it takes effect

	// Extended says that the platform offers the calls that are known beyond the
	// reference. Where it does not, it has to say so of each of them.
	Extended bool
	Strict   bool // it refuses members that it does not know, and tokens that are over
}

// Client is a platform with its tokens.
type Client interface {
	edge.Platform
	edge.Tokens
}

// tester is what most cases want: the fixture, and the deployment in Zone.
type tester struct {
	Fixture
	*testing.T
}

var cases = []struct {
	name string
	run  func(tester)
}{
	// Reading.
	{"the list has the managed ruleset", listHasManaged},
	{"the list comes without rules", listWithoutRules},
	{"the last rule of the managed ruleset has the threshold", lastRuleHasThreshold},
	{"the rules of the managed ruleset carry every paranoia tag", rulesCarryParanoiaTags},
	{"the entry point deploys the managed ruleset", entryPointDeploys},
	{"a zone without an entry point says exactly that", bareZone},
	{"what does not exist is not found", unknownIDs},
	{"an answer is the caller's own", answersAreCopies},
	{"a call ends with its context", canceledContext},
	{"readers do not disturb each other", concurrentReaders},
	// Writing.
	{"an update is read back", updateIsReadBack},
	{"every update adds one to the versions", updateAddsOne},
	{"an update replaces a list as a whole", updateReplacesLists},
	{"an update keeps or loses what it leaves out", updateLeavesOut},
	{"absent is not false", absentIsNotFalse},
	{"the order of categories is kept", categoriesKeepOrder},
	{"unknown members survive", unknownMembersSurvive},
	{"readers see a write whole or not at all", readersBesideWriter},
	// Refusing.
	{"a body that is not a rule is refused", invalidBodies},
	{"a rule of another zone is refused", otherZonesRule},
	{"an update of what does not exist is refused", updateUnknown},
	{"a wrong credential is refused", denied(wrongCredential)},
	{"what is forbidden for a zone is no matter of the credential", forbiddenZone},
	// Rulesets and zones beyond the reference.
	{"a zone lists its rulesets", beyond(zoneListsRulesets)},
	{"versions of the past are readable", beyond(pastVersionsAreReadable)},
	{"zones are found by name", beyond(zonesAreFound)},
	{"accounts are found", beyond(accountsAreFound)},
	{"a bare zone gets an entry point", beyond(bareZoneGetsEntryPoint)},
	{"an entry point is not overwritten", beyond(entryPointIsNotOverwritten)},
	{"a rule is added and the others stay", beyond(ruleIsAdded)},
	{"a rule is added where it is said", beyond(ruleIsAddedAt)},
	{"a skip rule is read as it was added", beyond(skipRuleIsRead)},
	{"a rule is deleted and the others stay", beyond(ruleIsDeleted)},
	{"the last rule leaves an entry point", beyond(lastRuleLeavesEntryPoint)},
	{"a rule that is not one is not added", beyond(invalidRules)},
	{"a rule is not added elsewhere", beyond(deploysElsewhere)},
	{"a dry run writes nothing", beyond(dryRunWritesNothing)},
	{"a dry run refuses what the write would", beyond(dryRunRefuses)},
	{"an account deploys a ruleset several times", beyond(accountDeploys)},
	{"a deployment ends with its context", beyond(beyondCallsEndWithContext)},
	{"a deployment that is held back is not sent", beyond(deploymentHeldBack)},
	{"a wrong credential deploys nothing", beyond(denied(wrongCredentialDeploysNothing))},
	// Tokens.
	{"a creation answers with id and secret", creationAnswers},
	{"a creation keeps the policies", creationKeepsPolicies},
	{"a creation takes every form of resource", creationTakesAllForms},
	{"names are not unique", namesAreNotUnique},
	{"a created secret works", createdSecretWorks},
	{"a token that is not one is refused", unfitTokens},
	{"a creation ends with its context", creationEndsWithContext},
	{"a creation tells before it is sent", creationTellsBeforeItIsSent},
	{"a creation that is held back is not sent", creationHeldBack},
	{"a wrong credential creates nothing", denied(wrongCredentialCreatesNothing)},
	// Tokens beyond the reference: reading.
	{"the list has every token", extended(listHasTokens)},
	{"a token reads as it is listed", extended(tokenReadsAsListed)},
	{"a token has what was asked for", extended(tokenHasItsSpec)},
	{"permission groups have names and scopes", extended(groupsHaveNames)},
	{"a credential knows itself", extended(credentialKnowsItself)},
	{"a token that is over says so", extended(overTokenSaysSo)},
	{"a token that was read is the caller's own", extended(tokensAreCopies)},
	// Writing.
	{"an update of a token replaces it", extended(updateReplacesToken)},
	{"an update of a token drops what it leaves out", extended(updateDropsWhatIsLeftOut)},
	{"an update of a token keeps status and secret", extended(updateKeepsStatusAndSecret)},
	{"a token can be switched off", extended(tokenIsSwitchedOff)},
	{"a rolled token has another secret", extended(rollGivesAnotherSecret)},
	{"a deleted token is gone", extended(deletedTokenIsGone)},
	{"a deleted token does not come back", extended(deletedTokenStaysGone)},
	// Refusing.
	{"a token that is not there is not found", extended(unknownToken)},
	{"an update that is no token is refused", extended(unfitUpdates)},
	{"a call on tokens ends with its context", extended(tokenCallsEndWithContext)},
	{"a wrong credential does nothing to tokens", extended(denied(wrongCredentialTouchesNoToken))},
}

// today is when each case begins. A bubble of synctest begins before the tokens of the suite are
// valid.
var today = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// Run runs the suite. Open is called once for each case, which is in a bubble of synctest: no
// pause of an implementation takes time, and no request may leave the process.
func Run(t *testing.T, open func(t testing.TB) Fixture) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(today))
				c.run(tester{open(t), t})
			})
		})
	}
}
