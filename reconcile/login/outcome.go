package login

import (
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/time/rate"
)

// Outcome is what became of a login, or of a request that needs one.
type Outcome string

// The outcomes. Those after LoggedOut refuse.
const (
	LoggedIn       Outcome = "logged_in"
	LoggedOut      Outcome = "logged_out"
	NoState        Outcome = "no_state"        // a callback to a login that this browser has not begun, or long ago
	Denied         Outcome = "denied"          // the provider says that the person may not, or has given up
	NoProvider     Outcome = "no_provider"     // the provider does not answer, or refuses the daemon
	BadToken       Outcome = "bad_token"       // the provider's ID token is not for this login
	BadHeader      Outcome = "bad_header"      // the proxy's headers can be read in two ways
	BadCertificate Outcome = "bad_certificate" // it has expired, or names no one
	CrossOrigin    Outcome = "cross_origin"    // another site has sent it
	NoRole         Outcome = "no_role"         // the person is known, and has no role
)

// Outcomes are all of them.
var Outcomes = []Outcome{LoggedIn, LoggedOut, NoState, Denied, NoProvider, BadToken, BadHeader, BadCertificate, CrossOrigin, NoRole}

// A line about a refusal is written this often for each outcome, after some that come at once.
const (
	refusedEvery = 10 * time.Second
	refusedBurst = 10
)

// reports logs and counts outcomes.
type reports struct {
	log    *slog.Logger
	count  func(Outcome)
	now    func() time.Time
	limits map[Outcome]*rate.Limiter // of lines about refusals
}

func newReports(log *slog.Logger, count func(Outcome), now func() time.Time) *reports {
	r := &reports{log: log, count: count, now: now, limits: map[Outcome]*rate.Limiter{}}
	for _, o := range Outcomes {
		r.limits[o] = rate.NewLimiter(rate.Every(refusedEvery), refusedBurst)
	}
	return r
}

func (r *reports) loggedIn(from *http.Request, who string) {
	r.count(LoggedIn)
	r.log.Info("a user has logged in", "user", who, "address", addressOf(from))
}

func (r *reports) loggedOut(from *http.Request, who string) {
	r.count(LoggedOut)
	r.log.Info("a user has logged out", "user", who, "address", addressOf(from))
}

// refused reports a refusal. err is for whoever runs the daemon, and has no secret.
func (r *reports) refused(from *http.Request, o Outcome, who string, err error) {
	r.count(o)
	if !r.limits[o].AllowN(r.now(), 1) {
		return
	}
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	r.log.Warn("a login was refused", "outcome", string(o), "user", who, "address", addressOf(from), "path", beginning(from.URL.Path), "error", reason)
}

// addressOf is where a connection came from.
func addressOf(r *http.Request) string {
	addr, err := peer(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return addr.String()
}

// mostLogged is how much of a path is logged, in bytes.
const mostLogged = 200

func beginning(text string) string { return text[:min(len(text), mostLogged)] }
