package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Webhook sends a [Message] as JSON, signed as Standard Webhooks say
// (https://www.standardwebhooks.com), for which there are libraries in many languages.
type Webhook struct {
	poster
	URL    Secret
	Secret Secret // at least 24 bytes; behind whsec_ it is in base64
	Now    func() time.Time
}

// NewWebhook returns the sender of a signed webhook. It believes the authorities in pem, or
// those of the system where it is nil.
func NewWebhook(url, secret Secret, now func() time.Time, pem []byte) (*Webhook, error) {
	p, err := newPoster(pem)
	return &Webhook{p, url, secret, now}, err
}

// Send implements [Sender].
func (w *Webhook) Send(ctx context.Context, m Message) error {
	return w.post(ctx, w.URL, struct {
		Version int `json:"version"`
		Message
	}{1, m}, func(header http.Header, body []byte) error {
		key, err := w.key()
		if err != nil {
			return err
		}
		at := strconv.FormatInt(w.Now().Unix(), 10)
		header.Set("Webhook-Id", m.ID)
		header.Set("Webhook-Timestamp", at)
		header.Set("Webhook-Signature", signature(key, m.ID, at, body))
		return nil
	})
}

// leastKey is how long the secret of a signature must be, in bytes: as long as Standard
// Webhooks say.
const leastKey = 24

func (w *Webhook) key() ([]byte, error) {
	secret, err := w.Secret()
	if err != nil {
		return nil, err
	}
	key := []byte(secret.Reveal())
	if encoded, ok := strings.CutPrefix(secret.Reveal(), "whsec_"); ok {
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return nil, fmt.Errorf("the secret behind whsec_ is not in base64")
		}
	}
	if len(key) < leastKey {
		return nil, fmt.Errorf("the secret is shorter than %d bytes", leastKey)
	}
	return key, nil
}

func signature(key []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
