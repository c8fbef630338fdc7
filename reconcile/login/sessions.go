package login

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"
)

// The bounds of sessions.
const (
	sessionIdle    = 8 * time.Hour  // without an activity of the person
	sessionLife    = 24 * time.Hour // after the login
	mostSessions   = 4096
	mostOfPerson   = 32 // who logs in again and again ends only sessions of their own
	mostUsedStates = 4096
)

// Sessions are the people who are logged in by OIDC, in memory. Only hashes of the ids are
// kept: who reads the memory cannot take a session over. It is safe for concurrent use.
type Sessions struct {
	key [sha256.Size]byte // signs the state of logins that have begun

	mu   sync.Mutex
	live map[idHash]*session
	// used are the states of logins that have ended, until these expire: a state begins one
	// session only.
	used map[idHash]time.Time
}

type idHash [sha256.Size]byte

// session is one person who is logged in, with one browser.
type session struct {
	identity    Identity
	fingerprint string // of the login's configuration
	began       time.Time
	active      time.Time // guarded by the mutex of Sessions
	ended       context.Context
	end         context.CancelFunc
}

// NewSessions returns an empty set of sessions.
func NewSessions() *Sessions {
	s := &Sessions{live: map[idHash]*session{}, used: map[idHash]time.Time{}}
	_, _ = rand.Read(s.key[:]) // never fails
	return s
}

// randomText is 256 random bits as text.
func randomText() string {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(bits[:])
}

// begin begins a session, and returns its id; false where the state has begun one already.
func (s *Sessions) begin(who Identity, fingerprint, state string, now time.Time) (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	if _, used := s.used[sha256.Sum256([]byte(state))]; used {
		return "", false
	}
	if len(s.used) >= mostUsedStates {
		delete(s.used, s.firstUsed()) // the provider takes its code only once, too
	}
	s.used[sha256.Sum256([]byte(state))] = now.Add(stateLife)
	s.makeRoom(who)
	id = randomText()
	ended, end := context.WithCancel(context.Background())
	s.live[sha256.Sum256([]byte(id))] = &session{identity: who, fingerprint: fingerprint, began: now, active: now, ended: ended, end: end}
	return id, true
}

// firstUsed is the used state that expires first.
func (s *Sessions) firstUsed() (first idHash) {
	for state, until := range s.used {
		if at, ok := s.used[first]; !ok || until.Before(at) {
			first = state
		}
	}
	return first
}

// makeRoom ends the oldest session of a person who has too many, or of all.
func (s *Sessions) makeRoom(who Identity) {
	var oldest, oldestOwn idHash
	own := 0
	for id, l := range s.live {
		if first := s.live[oldest]; first == nil || l.began.Before(first.began) {
			oldest = id
		}
		if l.identity.Name() != who.Name() {
			continue
		}
		own++
		if first := s.live[oldestOwn]; first == nil || l.began.Before(first.began) {
			oldestOwn = id
		}
	}
	switch {
	case own >= mostOfPerson:
		s.drop(oldestOwn)
	case len(s.live) >= mostSessions:
		s.drop(oldest)
	}
}

// sweep drops what is over.
func (s *Sessions) sweep(now time.Time) {
	for id, l := range s.live {
		if !l.holds(now) {
			s.drop(id)
		}
	}
	for state, until := range s.used {
		if now.After(until) {
			delete(s.used, state)
		}
	}
}

func (s *Sessions) drop(id idHash) {
	if l := s.live[id]; l != nil {
		l.end()
		delete(s.live, id)
	}
}

// found is a session, and until when it holds without an activity.
type found struct {
	*session
	until time.Time
}

// find returns the session with an id that a login of this configuration has begun; nil for
// none. An activity keeps it from being idle.
func (s *Sessions) find(id, fingerprint string, activity bool, now time.Time) *found {
	if id == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := idHash(sha256.Sum256([]byte(id)))
	l := s.live[hash]
	switch {
	case l == nil:
		return nil
	case !l.holds(now):
		s.drop(hash)
		return nil
	case l.fingerprint != fingerprint:
		return nil
	}
	if activity {
		l.active = now
	}
	return &found{l, l.until()}
}

// end ends the session with an id, if there is one, and returns whose it was.
func (s *Sessions) end(id string) (who Identity, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := idHash(sha256.Sum256([]byte(id)))
	l := s.live[hash]
	if l == nil {
		return Identity{}, false
	}
	s.drop(hash)
	return l.identity, true
}

// until is when a session ends without an activity.
func (l *session) until() time.Time {
	return earlier(l.active.Add(sessionIdle), l.began.Add(sessionLife))
}

func (l *session) holds(now time.Time) bool { return now.Before(l.until()) && !now.Before(l.began) }
