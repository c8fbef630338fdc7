package importer

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/gitrepo"
)

// Branch says how a change is pushed: as one commit on a new branch, made from the commit
// that the followed ref has now.
type Branch struct {
	Name    string
	Message string // of the commit; empty says what was absorbed
	Author  gitrepo.Author
	URL     string // of the repository
	Ref     string // that is followed; empty is the server's default
	Path    string // in which desired state begins
	DryRun  bool   // shows only what would be pushed
}

// AbsorbToBranch is [Absorb] for the newest commit of a repository. It changes no working
// copy, and no branch that is there.
func AbsorbToBranch(ctx context.Context, t *cli.Terminal, platform Platform, repository *evaluate.Repository, b Branch, zone string) error {
	commit, err := repository.Fetch(ctx)
	if err != nil {
		return err
	}
	_, problems, err := repository.Compile(ctx, commit)
	if err != nil {
		return err
	}
	from := cmp.Or(strings.TrimPrefix(b.Ref, "refs/heads/"), "the default branch")
	shown := fmt.Sprintf("%s (commit %.7s)", from, commit)
	if err := mistakes(problems, shown, "correct them first"); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "seawall-absorb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	begin, err := repository.Export(commit, dir)
	if err != nil {
		return err
	}
	d := Desired{Dir: begin, Shown: shown, Prefix: path.Clean(b.Path)}
	if !b.DryRun {
		d.Deliver = func(ctx context.Context, files []cuefile.File) error {
			return b.push(ctx, t, repository, commit, zone, files)
		}
	}
	return Absorb(ctx, t, platform, d, zone)
}

// push pushes changed files, and says what to do next.
func (b Branch) push(ctx context.Context, t *cli.Terminal, repository *evaluate.Repository, base, zone string, files []cuefile.File) error {
	change := gitrepo.Branch{
		Name: b.Name, Base: base, Author: b.Author, Files: map[string][]byte{},
		Message: cmp.Or(b.Message, "Absorb "+zone+"\n\nDeclare what is live in the zone.\n"),
	}
	for _, f := range files {
		change.Files[path.Join(b.Path, f.Name)] = f.Content
	}
	pushed, err := repository.Push(ctx, change)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.Err, "pushed  %s (commit %.7s) to %s\n", b.Name, pushed.Commit, b.URL)
	for _, line := range pushed.Server {
		fmt.Fprintf(t.Err, "        the server says: %s\n", cli.OneLine(line))
	}
	fmt.Fprintf(t.Err, "Next: open a pull request of %s, and have it reviewed\n", b.Name)
	return nil
}
