package notify

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/emersion/go-smtp"

	"github.com/seawall-dev/seawall/edge"
)

var (
	at    = time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	begin = Message{
		ID: idOf("ops", "outage/git/", Begins, at), Route: "ops", Cause: "outage/git/", About: AboutOutage, State: Begins, Severity: Critical,
		Title: "Outage of git: <!channel> no route", Text: "check *the* network", Since: at, At: at.Add(time.Minute),
	}
	end = Message{
		ID: idOf("ops", "outage/git/", Ends, at), Route: "ops", Cause: "outage/git/", About: AboutOutage, State: Ends, Severity: Critical,
		Title: begin.Title, Text: "It lasted 5m0s.", Since: at, At: at.Add(5 * time.Minute),
	}
)

// request is what a server got.
type request struct {
	header http.Header
	body   map[string]any
	raw    []byte
}

// receiver answers with a status, and keeps what it gets.
func receiver(t *testing.T, status *int) (address Secret, got func() []request) {
	t.Helper()
	var mu sync.Mutex
	var all []request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		one := request{header: r.Header, raw: raw}
		var list []map[string]any
		if json.Unmarshal(raw, &one.body) != nil && json.Unmarshal(raw, &list) == nil && len(list) > 0 {
			one.body = list[0]
		}
		mu.Lock()
		all = append(all, one)
		mu.Unlock()
		if *status == http.StatusFound {
			w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
		}
		w.WriteHeader(*status)
	}))
	t.Cleanup(server.Close)
	return secret(server.URL + "/hooks/T0KEN-IN-PATH"), func() []request {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

func secret(text string) Secret {
	return func() (edge.Secret, error) { return edge.NewSecret(text), nil }
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func send(t *testing.T, s Sender, messages ...Message) {
	t.Helper()
	for _, m := range messages {
		if err := s.Send(t.Context(), m); err != nil {
			t.Fatalf("%s: %v", m.State, err)
		}
	}
}

// TestSlack: a text is never markup: it neither mentions anyone nor links anywhere.
func TestSlack(t *testing.T) {
	status := http.StatusOK
	url, got := receiver(t, &status)
	send(t, must(NewSlack(url, nil)), begin, end)
	want := []string{
		"*[CRITICAL] Outage of git: &lt;!channel&gt; no route*\ncheck ∗the∗ network",
		"*[ENDED] Outage of git: &lt;!channel&gt; no route*\nIt lasted 5m0s.",
	}
	long := begin
	long.Text = strings.Repeat("<é", 3000)
	send(t, must(NewSlack(url, nil)), long)
	if text := got()[2].body["text"].(string); len(text) > 2000 || !utf8.ValidString(text) {
		t.Errorf("a text of %d bytes: Discord refuses more than 2000 characters", len(text))
	}
	for i, r := range got()[:2] {
		if r.body["text"] != want[i] {
			t.Errorf("got %q, want %q", r.body["text"], want[i])
		}
	}
}

// TestWebhook: the signature is that of Standard Webhooks; the example is that of its
// specification's libraries.
func TestWebhook(t *testing.T) {
	const example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	key := must(base64.StdEncoding.DecodeString(strings.TrimPrefix(example, "whsec_")))
	if s := signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)); s != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("the example of the specification is signed %s", s)
	}
	status := http.StatusNoContent
	url, got := receiver(t, &status)
	send(t, must(NewWebhook(url, secret(example), time.Now, nil)), begin, begin)
	first, second := got()[0], got()[1]
	id, stamp := first.header.Get("Webhook-Id"), first.header.Get("Webhook-Timestamp")
	if id != begin.ID || second.header.Get("Webhook-Id") != id || first.body["id"] != id {
		t.Errorf("ids %q, %q, %v; want %q", id, second.header.Get("Webhook-Id"), first.body["id"], begin.ID)
	}
	if s := first.header.Get("Webhook-Signature"); s != signature(key, id, stamp, first.raw) {
		t.Errorf("signature %s", s)
	}
	if first.body["state"] != "begins" || first.body["severity"] != "critical" || first.body["version"] != 1.0 || first.body["title"] != begin.Title {
		t.Errorf("body %s", first.raw)
	}
	for _, bad := range []string{"hunter2", "whsec_!", "whsec_AAAA"} {
		if err := must(NewWebhook(url, secret(bad), time.Now, nil)).Send(t.Context(), begin); err == nil || strings.Contains(err.Error(), bad) {
			t.Errorf("secret %q: %v", bad, err)
		}
	}
}

// TestPagerDuty: the end resolves the incident that the beginning has triggered.
func TestPagerDuty(t *testing.T) {
	status := http.StatusAccepted
	url, got := receiver(t, &status)
	send(t, must(NewPagerDuty(url, secret("routing-key"), "edge-1")), begin, end, Message{State: Digest})
	if len(got()) != 2 {
		t.Fatalf("%d events", len(got()))
	}
	first, second := got()[0].body, got()[1].body
	if first["event_action"] != "trigger" || second["event_action"] != "resolve" || first["dedup_key"] != second["dedup_key"] || first["routing_key"] != "routing-key" {
		t.Errorf("%v\n%v", first, second)
	}
	payload := first["payload"].(map[string]any)
	if payload["severity"] != "critical" || payload["source"] != "edge-1" || payload["summary"] != begin.Title {
		t.Errorf("payload %v", payload)
	}
}

// TestPagerDutyTest: a test leaves no incident behind.
func TestPagerDutyTest(t *testing.T) {
	status := http.StatusAccepted
	url, got := receiver(t, &status)
	send(t, must(NewPagerDuty(url, secret("routing-key"), "edge-1")), TestMessage("ops", at))
	if all := got(); len(all) != 2 || all[0].body["event_action"] != "trigger" || all[1].body["event_action"] != "resolve" || all[0].body["dedup_key"] != all[1].body["dedup_key"] {
		t.Errorf("%v", all)
	}
}

// TestAlertmanager: an alert lasts as long as it is repeated, and ends with its cause.
func TestAlertmanager(t *testing.T) {
	status := http.StatusOK
	url, got := receiver(t, &status)
	a := must(NewAlertmanager(url, "edge-1", time.Now, nil))
	send(t, a, begin, end)
	if err := a.Refresh(t.Context(), []Message{begin}); err != nil {
		t.Fatal(err)
	}
	all := got()
	if len(all) != 3 {
		t.Fatalf("%d requests, want a beginning, an end and a repetition", len(all))
	}
	labels := func(i int) string { return string(must(json.Marshal(all[i].body["labels"]))) }
	if labels(0) != labels(1) || labels(0) != labels(2) {
		t.Errorf("labels %s, %s, %s", labels(0), labels(1), labels(2))
	}
	if fmt.Sprint(all[2].body["annotations"]) != fmt.Sprint(all[0].body["annotations"]) {
		t.Errorf("repeated as %v, want %v", all[2].body["annotations"], all[0].body["annotations"])
	}
	if end := all[1].body["endsAt"]; end != "2026-03-01T02:05:00Z" {
		t.Errorf("the end is %v", end)
	}
	if ends := must(time.Parse(time.RFC3339, all[2].body["endsAt"].(string))); time.Until(ends) < RefreshEvery {
		t.Errorf("a repeated alert ends at %v", ends)
	}
}

// TestAnswers: which answers are final, that no redirect is followed, and that no error holds
// the address, which is a secret.
func TestAnswers(t *testing.T) {
	var status int
	url, got := receiver(t, &status)
	s := must(NewSlack(url, nil))
	for answer, final := range map[int]bool{400: true, 413: true, 422: true, 401: false, 403: false, 404: false, 429: false, 500: false, 503: false, 302: false} {
		status = answer
		err := s.Send(t.Context(), begin)
		if err == nil || errors.Is(err, ErrRefused) != final || strings.Contains(err.Error(), "T0KEN") {
			t.Errorf("%d: %v, want final %v", answer, err, final)
		}
	}
	if len(got()) != 10 {
		t.Errorf("%d requests", len(got()))
	}
	for _, address := range []string{"http://127.0.0.1:1/T0KEN", "http://chat.example/T0KEN", "https://T0KEN@chat.example", "T0KEN"} {
		if err := must(NewSlack(secret(address), nil)).Send(t.Context(), begin); err == nil || strings.Contains(err.Error(), "T0KEN") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// mailbox is a mail server, as far as a client sees one.
type mailbox struct {
	mu    sync.Mutex
	mails []string
	code  int // an answer to a mail that is not taken; zero takes it
}

func (m *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &mailSession{m}, nil }

type mailSession struct{ *mailbox }

func (s *mailSession) Reset()                                   {}
func (s *mailSession) Logout() error                            { return nil }
func (s *mailSession) Mail(string, *smtp.MailOptions) error     { return nil }
func (s *mailSession) Rcpt(_ string, _ *smtp.RcptOptions) error { return nil }

func (s *mailSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code != 0 {
		return &smtp.SMTPError{Code: s.code, Message: "no"}
	}
	s.mails = append(s.mails, string(text))
	return err
}

// TestSMTP: mails of one cause are one conversation, an id stays the same, and a text cannot
// add a header.
func TestSMTP(t *testing.T) {
	box := &mailbox{}
	server := smtp.NewServer(box)
	server.Domain = "localhost"
	listener := must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	s := &SMTP{Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, TLS: "none", From: "seawall@example.com", To: []string{"ops@example.com"}}
	hostile := begin
	hostile.Title += "\r\nBcc: mallory@example.com"
	send(t, s, hostile, end)
	box.mu.Lock()
	mails := slices.Clone(box.mails)
	box.mu.Unlock()
	if len(mails) != 2 || !strings.Contains(mails[0], "Message-ID: <"+begin.ID+"@seawall>") || !strings.Contains(mails[1], "In-Reply-To: <"+begin.ID+"@seawall>") {
		t.Fatalf("mails %q", mails)
	}
	for line := range strings.Lines(mails[0]) {
		if strings.HasPrefix(line, "Bcc:") {
			t.Errorf("a title has added a header: %s", mails[0])
		}
	}
	for code, final := range map[int]bool{554: true, 451: false} {
		box.mu.Lock()
		box.code = code
		box.mu.Unlock()
		if err := s.Send(t.Context(), begin); err == nil || errors.Is(err, ErrRefused) != final {
			t.Errorf("%d: %v, want final %v", code, err, final)
		}
	}
	s.TLS = "starttls"
	if err := s.Send(t.Context(), begin); err == nil {
		t.Error("a server without TLS got a mail")
	}
	s.TLS, s.Host = "none", "mail.example"
	if err := s.Send(context.Background(), begin); err == nil || !strings.Contains(err.Error(), "this machine") {
		t.Errorf("to another machine without TLS: %v", err)
	}
}

// TestSMTPHangs: a mail server that takes a connection and then says nothing does not hold up
// the end of the process.
func TestSMTPHangs(t *testing.T) {
	listener := must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))
	t.Cleanup(func() { _ = listener.Close() })
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = conn.Write([]byte("220 localhost\r\n"))
		_, _ = conn.Read(make([]byte, 100))
		stop() // the process is to end
	}()
	s := &SMTP{Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, TLS: "none", From: "seawall@example.com", To: []string{"ops@example.com"}}
	began := time.Now()
	if err := s.Send(ctx, begin); err == nil {
		t.Error("a mail was sent to a server that says nothing")
	}
	if d := time.Since(began); d > timeout/4 {
		t.Errorf("it took %s to give up", d)
	}
}
