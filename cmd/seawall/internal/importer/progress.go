package importer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/edge"
)

// workDir is a folder inside DIR that is there only while an import is not finished. CUE
// and git ignore it. progress.jsonl in it has one line for the import and one for each
// zone that was read; a zone whose read failed is read again.
const workDir = ".seawall-import"

const (
	progressVersion = 1
	progressFile    = "progress.jsonl"
	// keptFor is how long what was read counts for an import that goes on.
	keptFor = 24 * time.Hour
)

// header is the first line: what an import must have in common with the one before.
type header struct {
	Version int       `json:"version"`
	Program string    `json:"program"`
	Origin  string    `json:"origin"`
	Rules   bool      `json:"rules,omitempty"` // whether rules of other phases are read, too
	Started time.Time `json:"started"`
}

// progress remembers zones that were read. It is safe for concurrent use.
type progress struct {
	dir string

	mu    sync.Mutex
	file  *os.File
	known map[string]record // by account and zone
}

func openProgress(o Order, rules bool) (*progress, error) {
	p := &progress{dir: filepath.Join(o.Dir, workDir), known: map[string]record{}}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return nil, cli.Fail(err, "name a folder that you may write to")
	}
	if err := os.WriteFile(filepath.Join(p.dir, ".gitignore"), []byte("*\n"), 0o644); err != nil {
		return nil, err
	}
	name := filepath.Join(p.dir, progressFile)
	now := header{progressVersion, cli.ThisVersion().Version, o.Origin, rules, time.Now().UTC()}
	goesOn := p.load(name, now)
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if !goesOn {
		flags |= os.O_TRUNC
		clear(p.known)
	}
	var err error
	if p.file, err = os.OpenFile(name, flags, 0o600); err != nil {
		return nil, fmt.Errorf("keeping what is read: %w", err)
	}
	if !goesOn {
		err = p.add(now)
	}
	return p, err
}

// load reads what an earlier import has kept, and reports whether this one goes on with
// it. A last line that was cut is left out.
func (p *progress) load(name string, now header) bool {
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	lines := json.NewDecoder(file)
	var first header
	if lines.Decode(&first) != nil || first.Version != now.Version || first.Program != now.Program || first.Origin != now.Origin || first.Rules != now.Rules ||
		now.Started.Sub(first.Started).Abs() > keptFor {
		return false
	}
	for {
		var r record
		if lines.Decode(&r) != nil {
			return true
		}
		if r.Failed == "" {
			p.known[keyOf(r.Account, r.Zone)] = r
		}
	}
}

func keyOf(account edge.AccountID, zone edge.ZoneID) string {
	return string(account) + "/" + string(zone)
}

// resumed counts the zones that were read before.
func (p *progress) resumed(zones []target) (n int) {
	for _, z := range zones {
		if _, ok := p.of(z); ok {
			n++
		}
	}
	return n
}

// of is what was read of a zone before.
func (p *progress) of(z target) (record, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.known[keyOf(z.Account, z.ID)]
	r.Name = z.Name
	return r, ok
}

// add keeps a line: what was read of a zone, or the header.
func (p *progress) add(line any) error {
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.file.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("keeping what was read: %w", err)
	}
	return nil
}

// close keeps the file for the next import.
func (p *progress) close() { _ = p.file.Close() }

// finished removes everything.
func (p *progress) finished() { _ = os.RemoveAll(p.dir) }
