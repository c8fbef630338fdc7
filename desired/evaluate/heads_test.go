package evaluate

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/must"
)

// pulled is a repository with pull requests, and their heads as the daemon keeps
// them. Fetching and evaluating happen in real workers.
type pulled struct {
	*gittest.Repository
	t      *testing.T
	heads  Heads
	source gitrepo.Source
}

func newPulled(t *testing.T) *pulled {
	t.Helper()
	p := &pulled{gittest.New(t), t, Heads{
		HeadsConfig: HeadsConfig{
			Refs: "refs/pull/", Timeout: time.Minute, Log: slog.New(slog.DiscardHandler), Observed: func(int) {},
			Limits: gitrepo.FetchLimits{PackBytes: 64 << 20, ObjectBytes: 128 << 20, Objects: 1_000_000, UnpackedBytes: 1 << 30, StoreBytes: 2 << 30},
		},
		store: filepath.Join(t.TempDir(), "pulls"), refused: newRefusedHeads(),
	}, gitrepo.Source{Ref: "refs/heads/main"}}
	p.Commit("live/edge.cue", "package edge\n")
	p.source.URL = p.HTTP("", "")
	p.heads.remote = Remote{Source: func() (gitrepo.Source, error) { return p.source, nil }, Path: "live"}
	return p
}

// push makes files, on top of main's, the head of a pull request.
func (p *pulled) push(ref string, files ...string) string {
	p.t.Helper()
	p.Git("checkout", "-q", "-f", "-B", "change", "main")
	head := p.Commit(files...)
	p.Point(ref, head)
	p.Git("checkout", "-q", "-f", "main")
	return head
}

func (p *pulled) fetch(numbers ...int) (map[int]string, map[int]error) {
	p.t.Helper()
	found, failed, err := p.heads.Fetch(p.t.Context(), numbers)
	must.Do(p.t, err)
	return found, failed
}

// A head without the followed folder is a mistake of the pull request, and is told
// as one.
func TestHeadWithoutItsFolder(t *testing.T) {
	t.Parallel()
	p := newPulled(t)
	p.Git("checkout", "-q", "-B", "change", "main")
	p.Git("mv", "live", "elsewhere")
	head := p.Commit()
	p.Point("refs/pull/1/head", head)
	found, _ := p.fetch(1)
	_, problems, err := p.heads.Compile(t.Context(), found[1])
	if err != nil || len(desired.Errors(problems)) != 1 || !strings.Contains(problems[0].Message, `no folder "live"`) {
		t.Errorf("problems %v, error %v", problems, err)
	}
	if _, _, err := p.heads.Compile(t.Context(), strings.Repeat("a", 40)); err == nil {
		t.Error("a commit that is not here is told as the pull request's mistake")
	}
}

// Who may push refs of any name must not put a head in the place of the one that
// the forge shows, nor keep the others from being looked at.
func TestHeadsAreThoseOfTheForge(t *testing.T) {
	t.Parallel()
	for prefix, refs := range map[string][2]string{
		"refs/pull/":           {"refs/pull/%d/head", "refs/merge-requests/%d/head"},
		"refs/merge-requests/": {"refs/merge-requests/%d/head", "refs/pull/%d/head"},
	} {
		p := newPulled(t)
		p.heads.Refs = prefix
		want := map[int]string{}
		for number := range 2 {
			number++
			want[number] = p.push(fmt.Sprintf(refs[0], number), "live/a.cue", fmt.Sprintf("package edge\n_a: %d\n", number))
			p.push(fmt.Sprintf(refs[1], number), "live/a.cue", fmt.Sprintf("package edge\n_evil: %d\n", number))
		}
		found, failed := p.fetch(1, 2)
		if len(failed) > 0 || found[1] != want[1] || found[2] != want[2] {
			t.Errorf("%s: heads %v, want %v; failed %v", prefix, found, want, failed)
		}
	}
}

// A head over the bound is refused while it comes, and the others are brought.
func TestHugeHead(t *testing.T) {
	t.Parallel()
	p := newPulled(t)
	p.heads.Limits.PackBytes = 1 << 20
	noise := make([]byte, 2<<20)
	_, _ = rand.Read(noise) // never fails
	p.push("refs/pull/2/head", "live/noise.bin", string(noise))
	want := p.push("refs/pull/1/head", "live/a.cue", "package edge\n_a: 1\n")
	found, failed := p.fetch(1, 2)
	if found[1] != want || len(found) != 1 || failed[2] == nil || !strings.Contains(failed[2].Error(), "more than the limit of 1 MiB") {
		t.Errorf("heads %v, failed %v", found, failed)
	}
	var left int64
	_ = filepath.Walk(p.heads.store, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			left += info.Size()
		}
		return nil
	})
	if left > 1<<18 {
		t.Errorf("%d bytes are left of what was refused", left)
	}
	// It is told again, and not sent again.
	sent := p.counted()
	if _, failed := p.fetch(1, 2); failed[2] == nil || !strings.Contains(failed[2].Error(), "more than the limit of 1 MiB") {
		t.Errorf("failed %v", failed)
	}
	if n := sent.Load(); n > 1<<18 {
		t.Errorf("%d bytes were sent again", n)
	}
	// A push mends it.
	want = p.push("refs/pull/2/head", "live/a.cue", "package edge\n_a: 2\n")
	if found, failed := p.fetch(1, 2); found[2] != want {
		t.Errorf("heads %v, failed %v", found, failed)
	}
}

// counted puts a proxy before the repository that counts what it sends.
func (p *pulled) counted() *atomic.Int64 {
	p.t.Helper()
	var sent atomic.Int64
	p.behind(func(w http.ResponseWriter, r *http.Request, repository http.Handler) {
		repository.ServeHTTP(counting{w, &sent}, r)
	})
	return &sent
}

// behind puts a server before the repository.
func (p *pulled) behind(serve func(w http.ResponseWriter, r *http.Request, repository http.Handler)) {
	p.t.Helper()
	at, err := url.Parse(p.source.URL)
	must.Do(p.t, err)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: at.Scheme, Host: at.Host})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, proxy) }))
	p.t.Cleanup(server.Close)
	p.source.URL = server.URL + at.Path
}

type counting struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c counting) Write(b []byte) (int, error) {
	c.sent.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

// A head that is pushed over while it is fetched is told as what it is then, and a
// closed one is no error of the others.
func TestHeadMovesWhileItIsFetched(t *testing.T) {
	t.Parallel()
	p := newPulled(t)
	p.push("refs/pull/1/head", "live/a.cue", "package edge\n_a: 1\n")
	p.push("refs/pull/2/head", "live/a.cue", "package edge\n_a: 2\n")
	other := p.push("refs/pull/3/head", "live/a.cue", "package edge\n_a: 3\n")
	var asked atomic.Int64
	var forced string
	p.behind(func(w http.ResponseWriter, r *http.Request, repository http.Handler) {
		answer := httptest.NewRecorder()
		repository.ServeHTTP(answer, r)
		if asked.Add(1) == 1 { // the list of refs is old before it is sent
			forced = p.push("refs/pull/1/head", "live/a.cue", "package edge\n_a: 11\n")
			p.Git("update-ref", "-d", "refs/pull/2/head")
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the client may have gone
	})
	found, failed := p.fetch(1, 2, 3)
	if found[1] != forced || found[3] != other || found[2] != "" || failed[2] == nil {
		t.Errorf("heads %v, want %s and %s; failed %v", found, forced, other, failed)
	}
}
