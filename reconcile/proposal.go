package reconcile

import "github.com/seawall-dev/seawall/desired"

// Proposal is what a look at the source of desired state has come to.
type Proposal struct {
	Commit string
	Author string // of the commit, as it says itself; empty where that is not known
	// Message is the first line of the commit's.
	Message string
	// Same says that Commit is the one in force, which was not evaluated again.
	Same     bool
	State    desired.State
	Problems []desired.Problem
	// Approvals are those that the commit itself carries. They may come with a commit
	// that is the same: it could not be asked before.
	Approvals []Approval
	// Err is why there is no state: the commit could not be fetched, is not trusted or
	// could not be evaluated. Commit is then the one that is held, if it is known.
	Err error
}
