package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

func countFile(path, credential string) *CountFile {
	return &CountFile{
		Path: path, BaseURL: "https://api.example.com/client/v4",
		Credential: func() (edge.Secret, error) { return edge.NewSecret(credential), nil },
	}
}

// ended is a visit that tells of n requests.
func ended(n int) visit {
	now := time.Now()
	return visit{now: now, per: time.Minute, quota: 100, holder: "test", ended: []Count{{Until: grain(now, time.Minute), N: n}}}
}

// used returns what counts in the file, and whether it was lost.
func (f *CountFile) used(t *testing.T) (n int, lost bool) {
	t.Helper()
	err := f.Update(func(w *Window, _ time.Time) {
		lost = w.trade(visit{now: time.Now(), per: time.Minute, quota: 100, holder: "reader"}).lost
		n = w.taken().sum()
	})
	must.Do(t, err)
	return n, lost
}

func (f *CountFile) tell(t *testing.T, n int) {
	t.Helper()
	must.Do(t, f.Update(func(w *Window, _ time.Time) { w.trade(ended(n)) }))
}

func TestCountFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget")
	one, two := countFile(path, testToken), countFile(path, "another-credential")
	one.tell(t, 7)
	one.tell(t, 2)
	two.tell(t, 5)
	for want, f := range map[int]*CountFile{9: one, 5: two} {
		if got, lost := f.used(t); got != want || lost {
			t.Errorf("%d count, lost %v, want %d", got, lost, want)
		}
	}
	elsewhere := countFile(path, testToken)
	elsewhere.BaseURL = "https://other.example.com/client/v4"
	if got, _ := elsewhere.used(t); got != 0 {
		t.Errorf("%d count at another platform", got)
	}
	same := countFile(path, testToken)
	same.BaseURL += "/"
	if got, _ := same.used(t); got != 9 {
		t.Errorf("%d count where the base address ends with a slash", got)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() > 1000 {
		t.Errorf("%v, %v", info, err)
	}
}

// What another process has written since counts, and what this one has kept of the file does not.
func TestCountFileOfTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget")
	one, other := countFile(path, testToken), countFile(path, testToken)
	for i, f := range []*CountFile{one, one, other, one, other, other, one} {
		f.tell(t, 1)
		if got, lost := f.used(t); got != i+1 || lost {
			t.Fatalf("%d count, lost %v, want %d", got, lost, i+1)
		}
	}
	must.Do(t, os.WriteFile(path, []byte("damaged"), 0o600))
	must.Do(t, one.Update(func(w *Window, _ time.Time) {
		if !w.Lost {
			t.Error("a count that was lost is not told")
		}
	}))
	if _, lost := one.used(t); lost {
		t.Error("that a count was lost is told twice")
	}
}

// Nobody can tell from the file which credential it is about, not even who
// guesses right.
func TestCountFileHoldsNoCredential(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget")
	countFile(path, testToken).tell(t, 1)
	data, err := os.ReadFile(path)
	must.Do(t, err)
	plain := sha256.Sum256([]byte(testToken))
	for _, secret := range []string{testToken, hex.EncodeToString(plain[:8])} {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s is in %s", secret, data)
		}
	}
	other := filepath.Join(t.TempDir(), "budget")
	countFile(other, testToken).tell(t, 1)
	again, err := os.ReadFile(other)
	a, b := parseBook(data), parseBook(again)
	if err != nil || a == nil || b == nil {
		t.Fatal(err, a, b)
	}
	for key := range a.Windows {
		if b.Windows[key] != nil {
			t.Error("two files know a credential by the same name")
		}
	}
}

// A damaged file is told and counts as half of the budget, once; whatever the
// damage, it is no error.
func TestDamagedCountFile(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole")
	countFile(whole, testToken).tell(t, 30)
	good, err := os.ReadFile(whole)
	must.Do(t, err)
	flipped := bytes.Replace(good, []byte(`"n":30`), []byte(`"n":10`), 1)
	newer := bytes.Replace(good[17:], []byte(`"version":1`), []byte(`"version":2`), 1)
	for name, data := range map[string][]byte{
		"cut short": good[:len(good)/2], "another number": flipped, "something else": []byte("hello\n"), "zeros": make([]byte, 300),
		"of a newer program": fmt.Appendf(nil, "%s\n%s", checksum(bytes.TrimSpace(newer)), newer),
	} {
		t.Run(name, func(t *testing.T) {
			f := countFile(filepath.Join(t.TempDir(), "budget"), testToken)
			must.Do(t, os.WriteFile(f.Path, data, 0o600))
			if got, lost := f.used(t); got != 50 || !lost {
				t.Errorf("%d count, lost %v, want half of 100", got, lost)
			}
			if got, lost := f.used(t); got != 50 || lost {
				t.Errorf("then %d count, lost %v", got, lost)
			}
			other := countFile(f.Path, "another-credential")
			if got, lost := other.used(t); got != 50 || !lost {
				t.Errorf("of another credential %d count, lost %v", got, lost)
			}
		})
	}
	t.Run("behind it stands the end of a longer one", func(t *testing.T) {
		f := countFile(filepath.Join(t.TempDir(), "budget"), testToken)
		must.Do(t, os.WriteFile(f.Path, append(slices.Clone(good), `":3}]}}}`...), 0o600))
		if got, lost := f.used(t); got != 30 || lost {
			t.Errorf("%d count, lost %v", got, lost)
		}
	})
}

func TestCountFileThatCannotBe(t *testing.T) {
	f := countFile(filepath.Join(t.TempDir(), "nowhere", "budget"), testToken)
	if err := f.Update(func(*Window, time.Time) { t.Error("changed") }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	f.Credential = func() (edge.Secret, error) { return edge.Secret{}, os.ErrPermission }
	if err := f.Update(func(*Window, time.Time) { t.Error("changed") }); !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

// What no longer counts leaves the file, whoever it was of.
func TestCountFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget")
	for i := range 50 {
		f := countFile(path, fmt.Sprint("credential-", i))
		must.Do(t, f.Update(func(w *Window, _ time.Time) { w.Ended = []Count{{Until: time.Now().UnixMilli() - 1, N: 9}} }))
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 200 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}

// The processes of TestProcessesShareTheQuota.
const (
	envShareURL  = "SEAWALL_TEST_SHARE_URL"
	envShareFile = "SEAWALL_TEST_SHARE_FILE"
	shareQuota   = 25
	sharePer     = 700 * time.Millisecond
)

// TestShareProcess is one of them: it sends as fast as it may until its input ends.
func TestShareProcess(t *testing.T) {
	base := os.Getenv(envShareURL)
	if base == "" {
		return // the parent runs it with one
	}
	budget := NewBudget(shareQuota, sharePer)
	store := countFile(os.Getenv(envShareFile), testToken)
	budget.Share(Sharing{Store: store, Tell: func(err error) { t.Error(err) }})
	c, err := New(Config{BaseURL: base, Token: store.Credential, Budget: budget, Concurrency: 4})
	must.Do(t, err)
	ctx, end := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				if _, err := c.EntryPoint(ctx, testZone, edge.PhaseFirewallManaged); ctx.Err() == nil {
					check(t, err)
				}
			}
		})
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	end()
	all.Wait()
	budget.Close()
}

// Real processes on one file, one of which is killed in the middle: the platform
// never sees more than the quota in a span, and the others go on.
func TestProcessesShareTheQuota(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var arrivals []time.Time
	const enough = 5 * shareQuota
	begun, done := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		arrivals = append(arrivals, time.Now().Round(0)) // by the clock of the wall, as processes share no other one
		switch len(arrivals) {
		case shareQuota:
			close(begun)
		case enough:
			close(done)
		}
		mu.Unlock()
		answer(200, entryJSON)(w, nil)
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "budget")
	start := func() (*exec.Cmd, io.Closer) {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestShareProcess$")
		cmd.Env = append(os.Environ(), envShareURL+"="+server.URL, envShareFile+"="+path)
		cmd.Stderr, cmd.Stdout = os.Stderr, os.Stderr
		input, err := cmd.StdinPipe()
		must.Do(t, err)
		must.Do(t, cmd.Start())
		return cmd, input
	}
	victim, _ := start()
	first, endFirst := start()
	second, endSecond := start()
	within(t, begun)
	check(t, victim.Process.Kill())
	if err := victim.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the one that was killed: %v", err)
	}
	within(t, done)
	check(t, endFirst.Close())
	check(t, endSecond.Close())
	check(t, first.Wait())
	check(t, second.Wait())
	mu.Lock()
	defer mu.Unlock()
	for i := shareQuota; i < len(arrivals); i++ {
		if span := arrivals[i].Sub(arrivals[i-shareQuota]); span < sharePer-time.Millisecond {
			t.Fatalf("%d requests arrived within %v", shareQuota+1, span)
		}
	}
}

// within waits for what happens soon, and on a slow machine later.
func within(t *testing.T, happens <-chan struct{}) {
	t.Helper()
	select {
	case <-happens:
	case <-time.After(2 * time.Minute):
		t.Error("it has not happened within two minutes")
	}
}
