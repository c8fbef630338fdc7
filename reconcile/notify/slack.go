package notify

import (
	"context"
	"strings"
)

// Slack sends to an incoming webhook of Slack, or of what takes the same (Mattermost, Rocket.Chat,
// Discord with /slack at the end of the address).
type Slack struct {
	poster
	URL Secret
}

// mostChat is how long a text may be: Discord refuses more than 2000 characters, and a message
// that is refused is lost.
const mostChat = 2000

// NewSlack returns the sender of an incoming webhook. It believes the authorities in pem, or
// those of the system where it is nil.
func NewSlack(url Secret, pem []byte) (*Slack, error) {
	p, err := newPoster(pem)
	return &Slack{p, url}, err
}

// Send implements [Sender].
func (s *Slack) Send(ctx context.Context, m Message) error {
	text := "*" + escape(m.Heading()) + "*"
	if m.Text != "" {
		text += "\n" + escape(m.Text)
	}
	return s.post(ctx, s.URL, map[string]string{"text": cut(text, mostChat)}, nil)
}

// escape keeps a text from being markup, as Slack's documentation says: no link, no mention.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "*", "∗", "`", "'", "@", "@\u200b").Replace(text)
}
