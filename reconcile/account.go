package reconcile

import "errors"

// Account is one on a forge. Its name can be changed, and then be taken by someone else;
// its id stays.
type Account struct {
	ID   int64
	Name string // as the forge spells it: upper and lower case are the same
}

// Access is what a forge says an account may do in the project.
type Access int

// The kinds of access.
const (
	AccessUnknown Access = iota // the forge does not tell the token
	AccessRead                  // no more than read
	AccessWrite                 // write to the project
)

// ErrNoAccount: the forge has no account of that name.
var ErrNoAccount = errors.New("no account has this name")

// PullState is what became of a pull request.
type PullState string

// The states of pull requests.
const (
	PullOpen   PullState = "open"
	PullMerged PullState = "merged"
	PullClosed PullState = "closed" // without a merge
)

// PullStanding is what the reviewers of a pull request say of it by now.
type PullStanding struct {
	State     PullState
	Approvers []Account // whose last review says yes, to whichever head, sorted by name
}

// Remark is a comment of a person on a pull request.
type Remark struct {
	Author Account
	Body   string // a stranger's text, as it is
}
