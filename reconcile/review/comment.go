package review

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/visible"
	"github.com/seawall-dev/seawall/reconcile"
)

// marker is the first line of the comment, by which it is found again.
const marker = "<!-- seawall:plan -->"

// planContext is the context of the status of a head.
const planContext = "seawall/plan"

// verdict is what is to be said of one head.
type verdict struct {
	head, base string
	zones      int // that the head declares
	problems   []desired.Problem
	plan       *diff.Plan // nil: the head is not valid
	approvers  []string   // whose review releases what waits for an approval; none: no review does
}

// release says, for reviewers, what releases the changes that wait for an approval.
func (v verdict) release() string {
	command := render.Code("seawall apply --approve " + v.plan.ApprovalDigest())
	if len(v.approvers) == 0 {
		return "To release it, run " + command + " on the host of the daemon."
	}
	names := make([]string, len(v.approvers))
	for i, name := range v.approvers {
		names[i] = render.Code(name)
	}
	return "An approving review by " + orOf(names) + " releases it, unless that is the author. So does " + command + "."
}

// orOf is "a, b or c".
func orOf(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// mistakesTold bounds how many mistakes a comment lists.
const mistakesTold = 20

// mostShown is how long a comment may be, in bytes: a forge has the rest of a longer one
// cut off.
const mostShown = 65_000

// comment is the text for reviewers, and the digests that an approving review of it stands
// for: those of what it shows in full. Whatever comes from the pull request stands in code
// spans.
func (v verdict) comment(pull reconcile.PullRequest) (text string, approvable []string) {
	var b bytes.Buffer
	if v.plan == nil {
		v.mistakes(&b)
		return b.String(), nil
	}
	cut, _ := render.MarkdownReview(&b, *v.plan, v.release()) // a buffer takes everything
	fmt.Fprintf(&b, "\nThis plan covers only the zones that this pull request changes: %d of %s.\n", v.plan.Summary.Zones, plural(v.zones, "zone", "zones"))
	fmt.Fprintf(&b, "\nDigest for approval: %s\n", render.Code(v.plan.ApprovalDigest()))
	if pull.Fork {
		b.WriteString("\nThis pull request comes from a fork. Seawall evaluated only its declarations, and sent only reads.\n")
	}
	fmt.Fprintf(&b, "\n<sub>head %s, compared with %s, the commit in force</sub>\n", render.Code(short(v.head)), render.Code(short(v.base)))
	text = b.String()
	switch {
	case len(text) > mostShown:
		text = notApproved("The plan is too long to show in full, so a review cannot approve it.", v.head) + text
	case edge.Redact(text) != text:
		text = notApproved("The plan contains a secret, which is not shown, so a review cannot approve it.", v.head) + text
	case len(cut) == 1:
		text = notApproved("One change is not shown in full. A review does not approve it.", v.head) + text
		approvable = v.digests(cut)
	case len(cut) > 0:
		text = notApproved(fmt.Sprintf("%d changes are not shown in full. A review does not approve them.", len(cut)), v.head) + text
		approvable = v.digests(cut)
	default:
		approvable = v.digests(nil)
	}
	return text, approvable
}

// notApproved says what a review does not approve, and how to see and to approve it.
func notApproved(what, head string) string {
	return fmt.Sprintf("⚠️ %s To see it, check out %s and run %s. To approve it, run %s.\n\n",
		what, render.Code(short(head)), render.Code("seawall plan --dir . -o json"), render.Code("seawall apply --approve DIGEST"))
}

// digests are those of what a reviewer agrees to by approving of the plan: of each change
// that would be sent or is held back, but for those that are cut; and of all of it, where
// none is.
func (v verdict) digests(cut []int) (digests []string) {
	leaving := render.LeavingInFull(*v.plan)
	if len(cut) == 0 && len(leaving) == len(v.plan.Leaving) {
		digests = append(digests, v.plan.ApprovalDigest())
	}
	for i, c := range v.plan.Changes {
		if c.Sends() && !slices.Contains(cut, i) {
			digests = append(digests, c.ApprovalDigest())
		}
	}
	return append(digests, leaving...)
}

func (v verdict) mistakes(b *bytes.Buffer) {
	errors := desired.Errors(v.problems)
	fmt.Fprintf(b, "### Seawall: the desired state does not compile\n\nA merge would have no effect: the current commit stays in force. %s:\n\n", plural(len(errors), "mistake", "mistakes"))
	for i, p := range errors {
		if i == mistakesTold {
			fmt.Fprintf(b, "- … and %d more: %s shows all of them\n", len(errors)-i, render.Code("seawall validate"))
			break
		}
		fmt.Fprintf(b, "- %s", render.Code(p.String()))
		if p.Hint != "" {
			fmt.Fprintf(b, "; %s", render.Code(p.Hint))
		}
		b.WriteByte('\n')
	}
}

func refusedComment(err error) string {
	return "### Seawall: this pull request cannot be read\n\n" + render.Code(err.Error()) + "\n"
}

// status is the commit status of the head.
func (v verdict) status() reconcile.CommitStatus {
	m := reconcile.CommitStatus{Context: planContext, State: reconcile.StatusSuccess}
	if v.plan == nil {
		m.State, m.Description = reconcile.StatusFailure, plural(len(desired.Errors(v.problems)), "mistake", "mistakes")+" in the desired state"
		return m
	}
	m.Description = v.plan.Summary.String()
	o := v.obstacles()
	switch {
	case o.refused > 0:
		m.State, m.Description = reconcile.StatusFailure, "a merge would not apply "+plural(o.refused, "change", "changes")+"; "+m.Description
	case o.undecided > 0:
		m.State, m.Description = reconcile.StatusFailure, "live overrides are undecided: declare them, or set unmanaged; "+m.Description
	case o.bypassed > 0:
		m.State, m.Description = reconcile.StatusFailure, "skip rules keep requests from "+plural(o.bypassed, "deployment", "deployments")+": remove or accept them; "+m.Description
	case o.unknown > 0:
		m.State, m.Description = reconcile.StatusPending, plural(o.unknown, "zone", "zones")+" could not be read, the next plan tries again; "+m.Description
	case o.waiting > 0 && len(v.approvers) > 0:
		m.State, m.Description = reconcile.StatusPending, plural(o.waiting, "change waits", "changes wait")+" for an approving review by "+orOf(v.approvers)
	case o.waiting > 0:
		m.State, m.Description = reconcile.StatusPending, plural(o.waiting, "change waits", "changes wait")+" for an approval: seawall apply --approve"
	}
	return m
}

// waits reports whether something waits for an approval.
func (v verdict) waits() bool { return v.plan != nil && v.obstacles().waiting > 0 }

// obstacles count why a merge would not make the zones as declared.
type obstacles struct {
	waiting   int // changes that wait for an approval
	refused   int // changes that only another commit, or a person with other means, releases
	undecided int // deployments with live members that nothing declares and nothing decides on
	bypassed  int // deployments from which a skip rule keeps requests, which nobody has accepted
	unknown   int // zones that could not be read: another try may help
}

// obstacles counts those of the plan. What ends by itself, such as a freeze, is no
// obstacle, and neither is what is wrong with a token: that need not be of this pull
// request.
func (v verdict) obstacles() (o obstacles) {
	for _, c := range v.plan.Changes {
		switch {
		case c.Refused == nil || c.Refused.Quiet():
		case c.Refused.Digest != "":
			o.waiting++
		case c.Level() != edge.LevelCredential && (c.Refused.Guard == diff.GuardShrink || c.Refused.Guard == diff.GuardDryRun):
			o.refused++
		}
	}
	for _, p := range v.plan.Problems {
		switch {
		case p.State == diff.Blocked, p.State == diff.Forbidden, p.State == diff.NotDeployed, p.State == diff.Refused:
			o.refused++
		case p.State == diff.Undecided:
			o.undecided++
		case p.State == diff.Bypassed:
			o.bypassed++
		case p.State == diff.Unknown && diff.Counts(p.Level()):
			o.unknown++
		default: // a zone that may not be read for this pull request, or a token
		}
	}
	return o
}

func short(commit string) string { return commit[:min(len(commit), 12)] }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// oneLineOf keeps a description on one line.
func oneLineOf(s string) string { return strings.Join(strings.Fields(visible.Text(s)), " ") }
