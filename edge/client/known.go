package client

import (
	"crypto/sha256"
	"sync"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

// usualKnown bounds the answers that are remembered: some 2 KiB for each entry
// point of a tuned zone.
const usualKnown = 20_000

// known remembers the last answer to each question for a ruleset, by its hash,
// and what it was decoded to. In a fleet at rest nearly every answer is the one
// before to the letter, and decoding is most of what it costs. It decides about
// decoding only: the question is asked all the same.
//
// What is handed out again is the same value: no one may write to it.
//
// Rulesets of earlier phases are not remembered. They are looked at about once a day, and may
// have hundreds of rules of which none matters here.
type known struct {
	most int

	mu      sync.Mutex
	answers map[string]knownAnswer // by path
}

type knownAnswer struct {
	status  int
	sum     [sha256.Size]byte
	ruleset edge.Ruleset
}

// recall returns what the same answer was decoded to before.
func (k *known) recall(path string, status int, sum [sha256.Size]byte) (edge.Ruleset, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	last, asked := k.answers[path]
	return last.ruleset, asked && last.status == status && last.sum == sum
}

// keep remembers an answer in the place of the one before. When there is no more
// room all are forgotten: paths of zones that left the repository go with them.
func (k *known) keep(path string, answer knownAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, asked := k.answers[path]; k.answers == nil || !asked && len(k.answers) >= k.most {
		k.answers = map[string]knownAnswer{}
	}
	k.answers[path] = answer
}

// decodeRuleset decodes an answer, unless it is the one before.
func (c *Client) decodeRuleset(get call, r wire.Response) (edge.Ruleset, error) {
	sum := sha256.Sum256(r.Body)
	if found, ok := c.known.recall(get.path, r.Status, sum); ok {
		return found, nil
	}
	var found edge.Ruleset
	if _, err := r.Decode(&found); err != nil {
		return edge.Ruleset{}, err
	}
	if err := get.checkRuleset(found); err != nil {
		return edge.Ruleset{}, err
	}
	if found.Phase != edge.PhaseFirewallCustom && found.Phase != edge.PhaseRateLimit {
		c.known.keep(get.path, knownAnswer{r.Status, sum, found})
	}
	return found, nil
}
