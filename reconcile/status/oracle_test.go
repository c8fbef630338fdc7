package status

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// What is taken out of an answer says nothing of a secret to who has guessed a part of it: a text
// of the request comes back as it was sent, or a secret could be found out character by character.
func TestAnswersConfirmNoGuess(t *testing.T) {
	const secret = "glpat-Zx8Qp2xLr7Tz4Yn6Wk9Bd3"
	edge.NewSecret(secret)
	mux := http.NewServeMux()
	mux.HandleFunc("/says", func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(r.URL.Query().Get("text") + " and " + secret))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/login?to="+r.URL.EscapedPath(), http.StatusSeeOther)
	})
	h := redacted(mux)
	mux.HandleFunc("POST /form", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("no zone " + r.PostFormValue("zone"))) })
	ask := func(method, path string) string {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Body.String()
	}
	for _, guess := range []string{"glpat-zx8qp2x", "676c7061742d", "676c7061742d5a78", secret} {
		for _, path := range []string{"/", "//", "/x/../", "/x?", "/says?text=", "/says?text=%2567+"} {
			if got := ask(http.MethodGet, path+guess); strings.Contains(strings.Replace(got, " and [secret]", "", 1), "[secret]") {
				t.Errorf("%s%s: %s", path, guess, got)
			}
		}
	}
	order := httptest.NewRequest(http.MethodPost, "/form", strings.NewReader("zone=glpat-Z%78+8Qp2"))
	order.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer := httptest.NewRecorder()
	if h.ServeHTTP(answer, order); answer.Body.String() != "no zone glpat-Zx 8Qp2" {
		t.Errorf("an order: %s", answer.Body)
	}
	if got := ask(http.MethodGet, "/says?text=a"); got != "a and [secret]" {
		t.Errorf("a secret that is not in the request: %s", got)
	}
}
