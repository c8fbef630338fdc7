package reconcile

import "fmt"

// PullRequest is an open pull request on a forge, in GitLab's words a merge request. All
// of it comes from a stranger.
type PullRequest struct {
	Number int
	Head   string // its last commit
	Title  string // as the author wrote it
	Author string // the author's name on the forge; empty for a deleted account
	// AuthorID is the id of the author's account; zero for a deleted one.
	AuthorID int64
	URL      string // of its page on the forge; empty: not known
	Fork     bool   // the head is in another project, or that project is gone
	Labels   []string
}

// CommitStatus is a status of a commit on a forge.
type CommitStatus struct {
	Context     string // whose status it is: "seawall/plan", "seawall/apply"
	State       CommitState
	Description string // the forge gets at most 140 characters of it, on one line
	URL         string // where there is more to read; may be empty
	// Ref is where the commit can be found. GitLab asks for it where no branch of
	// the project has the commit, as in a merge request from a fork; the others
	// ignore it.
	Ref string
}

// String is for logs and tests.
func (s CommitStatus) String() string {
	return fmt.Sprintf("%s %s: %s", s.Context, s.State, s.Description)
}

// CommitState is what a [CommitStatus] says.
type CommitState string

// The states of a commit status.
const (
	StatusPending CommitState = "pending"
	StatusSuccess CommitState = "success"
	StatusFailure CommitState = "failure" // the change is at fault
	StatusError   CommitState = "error"   // something else is; GitLab shows both as failed
)
