// Package sim is the platform as an HTTP server: edge/mem behind the reference's
// addresses, with a clock, quirks, a rate limit and a transcript. It is what
// Seawall is developed and demonstrated against, and it serves any other client
// of the platform as well.
//
//	running, err := sim.Start(sim.Config{})
//	defer running.Close()
//	// running.BaseURL, running.RulesetsToken: give them to a client
//	for _, entry := range running.Transcript() {
//		fmt.Println(entry.Call(), entry.Status)
//	}
//
// [New] and [Server.Serve] do the same in steps, for a listener of one's own.
//
// A request passes these stations, and the first that has an answer gives it:
// the quirk html; both body lengths at once (declined since the day of the
// calendar); the quirk throttle;
// authentication, for which a token must be active, inside of its window and used
// from an address that its condition lets through; the rate limit; the path;
// what the token's policies permit; the quirk error-before; the platform itself.
// Then come error-after and cut-after, slow, and truncate.
//
// A token that is created signs in at once. Which permission group a call needs
// is the seed's word (endpoint_permissions): a token with policies may make the
// call where package access says so, and a token without any, which only a seed
// has, may make every call.
//
// The platform is that of the day which the clock shows: what the calendar's rules
// do to it is in effects.go.
//
// Beside the platform's addresses there are those of the control, below
// /__sim/; see control.go.
package sim

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/mem"
)

// Config says how a simulator begins. The zero value simulates the platform of
// [mem.DefaultSeed] with the documented limits and no quirks.
type Config struct {
	Seed     mem.Seed         // zero: mem.SeedFor(Profile); one without any token value gets those of that seed, and mem.DefaultTokens()
	BasePath string           // what precedes the reference's paths; empty: "/client/v4", "/": nothing
	Profile  string           // which calls are offered, and how strict the platform is: mem.Documented (also when empty), mem.Extended or mem.Vendor
	Vendor   string           // the vendor segment of resource keys on the wire; empty: "vendor"; seed and control say "vendor" always
	Quirks   []string         // NAME or NAME=VALUE of Quirks(); nil: none
	Now      func() time.Time // nil: time.Now
	Log      *slog.Logger     // one line a request, at debug level; nil: none

	// Calendar is the schedule of deprecations by which the platform changes with
	// the clock; see effects.go. Without one, every change that has a day has
	// happened.
	Calendar deprecation.Calendar

	RateLimit  RateLimit     // zero: 1200 requests in 5 minutes for each credential
	RetryAfter time.Duration // what the quirk throttle asks a client to wait; zero: 1s
	PageSize   int           // rulesets on one page of a list when per_page is not given; zero: 50

	// ClientAddr says where a request comes from, for the address filters of
	// tokens; nil: from the other end of its connection.
	ClientAddr func(*http.Request) netip.Addr

	AllowRemoteControl bool // serve /__sim/ to others than this machine
}

// DefaultBasePath is how the addresses of the real service begin.
const DefaultBasePath = "/client/v4"

// Server is a simulator that does not listen yet. Make one with [New].
type Server struct {
	// Platform is what the server serves. Changes made to it directly are seen
	// by clients at once and are not in the transcript.
	Platform *mem.Platform

	config     Config
	dialect    wire.Dialect
	offered    []call
	schedule   schedule
	clock      *clock
	faults     *faults
	limiter    *limiter
	transcript transcript
	handler    http.Handler
}

// New returns a simulator. It fails on a seed that is not consistent, on an
// unknown quirk or profile, and on a base path that cannot be one.
func New(config Config) (*Server, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	s := &Server{
		config:  config,
		dialect: wire.Dialect{Vendor: config.Vendor},
		offered: slices.Concat(documentedCalls, dnsCalls),
		clock:   &clock{base: config.Now},
		limiter: &limiter{limit: config.RateLimit},
		faults:  &faults{},
	}
	switch config.Profile {
	case mem.Extended:
		s.offered = slices.Concat(extendedCalls, dnsCalls)
	case mem.Vendor:
		s.offered = slices.Concat(vendorCalls, dnsCalls)
	}
	if s.schedule, err = newSchedule(config.Calendar); err != nil {
		return nil, fmt.Errorf("reading the calendar: %w", err)
	}
	if s.Platform, err = mem.New(mem.Config{Seed: config.Seed, Now: s.clock.Now, Profile: config.Profile}); err != nil {
		return nil, err
	}
	if err := s.SetQuirks(config.Quirks); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle(controlPrefix, control{s}.handler())
	mux.HandleFunc("/", s.serveAPI)
	s.handler = mux
	return s, nil
}

// withValues returns the tokens of a seed that has no value of any, such as GET /__sim/state
// shows it: those that the profile's own seed has by the same id get its values, and
// [mem.DefaultTokens] are added where they are missing.
func withValues(tokens []mem.SeedToken, profile string) []mem.SeedToken {
	tokens = slices.Clone(tokens)
	place := func(id string) int {
		return slices.IndexFunc(tokens, func(t mem.SeedToken) bool { return t.ID == id })
	}
	for _, own := range mem.SeedFor(profile).Tokens {
		if i := place(own.ID); i >= 0 {
			tokens[i].Value = own.Value
		}
	}
	for _, d := range mem.DefaultTokens() {
		if place(d.ID) < 0 {
			tokens = append(tokens, d)
		}
	}
	return tokens
}

// complete puts the defaults into a configuration and checks it.
func (c Config) complete() (Config, error) {
	fallback(&c.Profile, mem.Documented)
	if c.Seed.IsZero() {
		c.Seed = mem.SeedFor(c.Profile)
	}
	if !slices.ContainsFunc(c.Seed.Tokens, func(t mem.SeedToken) bool { return t.Value != "" }) {
		c.Seed.Tokens = withValues(c.Seed.Tokens, c.Profile)
	}
	fallback(&c.BasePath, DefaultBasePath)
	fallback(&c.Vendor, "vendor")
	fallback(&c.RetryAfter, time.Second)
	fallback(&c.PageSize, 50)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.ClientAddr == nil {
		c.ClientAddr = remoteAddr
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.RateLimit = c.RateLimit.complete()
	if !strings.HasPrefix(c.BasePath, "/") || strings.HasPrefix(c.BasePath+"/", controlPrefix) {
		return c, fmt.Errorf("base path %q: it must begin with / and must not be %s", c.BasePath, controlPrefix)
	}
	c.BasePath = strings.TrimRight(c.BasePath, "/")
	if err := (wire.Dialect{Vendor: c.Vendor}).Check(); err != nil {
		return c, err
	}
	if c.PageSize < 1 || c.PageSize > maxPerPage {
		return c, fmt.Errorf("page size %d is not between 1 and %d", c.PageSize, maxPerPage)
	}
	if c.RetryAfter < 0 {
		return c, errors.New("the wait of the quirk throttle is negative")
	}
	return c, nil
}

func fallback[T comparable](value *T, other T) {
	var zero T
	if *value == zero {
		*value = other
	}
}

// Handler returns the simulator as a handler, for a server of one's own.
// Requests with both Transfer-Encoding and Content-Length are never declined
// there: net/http hides the second from handlers, so only [Server.Serve], which
// reads along on the connection, can tell.
func (s *Server) Handler() http.Handler { return s.handler }

// SetRateLimit makes limit the limit of requests, in place of the one there was; what was counted
// begins again.
func (s *Server) SetRateLimit(limit RateLimit) { s.limiter.set(limit) }

// SetQuirks makes list the quirks, in place of those there were; all counters
// begin again. A list with a mistake changes nothing.
func (s *Server) SetQuirks(list []string) error {
	values, err := mem.ParseQuirks(Quirks(), list)
	if err != nil {
		return err
	}
	var meaning []string
	for _, q := range mem.Quirks() {
		if value, ok := values[q.Name]; ok {
			meaning = append(meaning, join(q.Name, value))
		}
	}
	if err := s.Platform.SetQuirks(meaning); err != nil {
		return err
	}
	s.faults.set(values)
	return nil
}

func join(name, value string) string {
	if value == "" {
		return name
	}
	return name + "=" + value
}

// Transcript returns the requests so far in the order in which they arrived.
func (s *Server) Transcript() []Entry { return s.transcript.all() }

// ClearTranscript forgets the requests so far; the next one is number 1.
func (s *Server) ClearTranscript() { s.transcript.clear() }
