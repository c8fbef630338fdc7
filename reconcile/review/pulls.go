package review

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// pulls is what people are shown of the open pull requests: of each what the forge lists, and
// its newest review. A review goes with its pull request. It is safe for concurrent use.
//
// All of it is from strangers, so it is bounded: [inspect.MostRows] pull requests with texts
// of [mostText], and as many plans of [mostShown] as there are reviews in a round.
type pulls struct {
	changed func()

	mu   sync.Mutex
	at   time.Time // when the forge listed them; zero: not yet
	open []inspect.PullRequest
	left int
}

// mostText is how long a text of a pull request may be, in bytes.
const mostText = 1000

// listed takes note of what is open, those first that are to be kept.
func (p *pulls) listed(open []reconcile.PullRequest, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.open
	p.at, p.left = now, max(0, len(open)-inspect.MostRows)
	p.open = make([]inspect.PullRequest, 0, min(len(open), inspect.MostRows))
	for _, pull := range open[:min(len(open), inspect.MostRows)] {
		known := inspect.PullRequest{Number: pull.Number, Verdict: string(reconcile.StatusPending)}
		if i := slices.IndexFunc(before, func(k inspect.PullRequest) bool { return k.Number == pull.Number }); i >= 0 {
			known = before[i]
		}
		known.Title, known.Author, known.URL, known.Fork = clean(pull.Title), clean(pull.Author), clean(pull.URL), pull.Fork
		if pull.Head != "" && known.Head != pull.Head {
			known.Problem = cmp.Or(known.Problem, "its newest commit is not reviewed yet")
		}
		p.open = append(p.open, known)
	}
	slices.SortFunc(p.open, func(a, b inspect.PullRequest) int { return b.Number - a.Number })
	p.changed()
}

// update changes what is known of a pull request, if it is among those that are kept.
func (p *pulls) update(number int, change func(*inspect.PullRequest)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.open {
		if before := p.open[i]; before.Number == number {
			if change(&p.open[i]); p.open[i] != before {
				p.changed()
			}
		}
	}
}

// reviewed keeps a review as it is shown on the forge.
func (p *pulls) reviewed(number int, head string, status reconcile.CommitStatus, text string, now time.Time) {
	p.update(number, note{Head: head, Verdict: string(status.State), Summary: clean(status.Description), Text: shownText(text), At: now}.show)
}

// shownText is a comment as it is kept.
func shownText(text string) string {
	if len(text) > mostShown {
		text = cut(text, mostShown) + "\n\n… the plan goes on; `seawall plan` shows all of it\n"
	}
	return edge.Redact(text)
}

// listing is what is open, for other replicas.
func (p *pulls) listing() listing {
	list := p.list(time.Time{})
	return listing{list.LookedAt, list.LeftOut, list.PullRequests}
}

// show shows what another replica has listed.
func (p *pulls) show(b listing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.left, p.open = b.At, b.Left, b.Open
	p.changed()
}

// failed keeps why a pull request was not reviewed; empty: it was.
func (p *pulls) failed(number int, why string) {
	p.update(number, func(k *inspect.PullRequest) { k.Problem = clean(why) })
}

// dropPlans forgets the plans of pull requests that are reviewed no more.
func (p *pulls) dropPlans(reviewed []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.open {
		if !slices.Contains(reviewed, p.open[i].Number) {
			p.open[i].Plan = ""
		}
	}
}

// list is what is known of all, without their plans.
func (p *pulls) list(now time.Time) inspect.PullRequestList {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := inspect.PullRequestList{
		Version: inspect.Version, At: now, Reviewed: true, LookedAt: p.at, LeftOut: p.left, PullRequests: make([]inspect.PullRequest, len(p.open)),
	}
	copy(list.PullRequests, p.open)
	for i := range list.PullRequests {
		list.PullRequests[i].Plan = ""
	}
	return list
}

// one is what is known of a pull request.
func (p *pulls) one(number int) (inspect.PullRequest, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.open, func(k inspect.PullRequest) bool { return k.Number == number })
	if i < 0 {
		return inspect.PullRequest{}, false
	}
	return p.open[i], true
}

// clean is a text of a stranger, on one line, bounded and without secrets. Who shows it to
// people shows what is hidden in it.
func clean(text string) string {
	return cut(edge.Redact(strings.Join(strings.Fields(strings.ToValidUTF8(cut(text, mostText), "�")), " ")), mostText)
}

// cut is the beginning of a text, without half a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xC0 == 0x80 {
		most--
	}
	return text[:most]
}
