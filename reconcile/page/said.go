package page

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/login"
)

// saidCookie has the line that says what was done, for the next page; saidFor is for how long
// it is shown.
const (
	saidCookie = "seawall-done"
	saidFor    = 20 * time.Second
	mostSaid   = 1000 // characters
)

// said carries the line about an action to the page that is shown after it. It is signed: no
// one else can have a page say something.
type said struct{ key []byte }

// line is what a cookie holds.
type line struct {
	Text  string
	Who   string
	Until time.Time
}

func newSaid() said {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	return said{key}
}

func (s said) sign(text string) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// say has the next pages of a person show a line.
func (s said) say(w http.ResponseWriter, r *http.Request, who, text string, now time.Time) {
	if runes := []rune(text); len(runes) > mostSaid {
		text = string(runes[:mostSaid]) + "…"
	}
	data, err := json.Marshal(line{edge.Redact(text), who, now.Add(saidFor)}) // nothing redacts a header
	if err != nil {
		return
	}
	value := base64.RawURLEncoding.EncodeToString(data)
	value += "." + base64.RawURLEncoding.EncodeToString(s.sign(value))
	http.SetCookie(w, &http.Cookie{
		Name: saidCookie, Value: value, Path: "/", MaxAge: int(saidFor.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
}

// of is the line that a request is to be shown; empty for none.
func (s said) of(r *http.Request, now time.Time) string {
	cookie, err := r.Cookie(saidCookie)
	if err != nil {
		return ""
	}
	value, signature, _ := strings.Cut(cookie.Value, ".")
	mac, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(mac, s.sign(value)) {
		return ""
	}
	var l line
	data, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil || json.Unmarshal(data, &l) != nil {
		return ""
	}
	if person, known := login.From(r.Context()); !known || person.Name != l.Who || !now.Before(l.Until) {
		return ""
	}
	return l.Text
}
