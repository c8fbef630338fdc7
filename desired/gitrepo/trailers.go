package gitrepo

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seawall-dev/seawall/desired/gitrepo/signature"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// Trailers returns the trailers of a commit's message, as git-interpret-trailers
// finds them: the lines "Key: value" of its last paragraph, which is not its
// first. Keys are in lower case; a value that is continued over lines is one
// line. It returns [ErrNoCommit].
//
// Whoever wrote the message wrote them: ask [Repo.Signer] who that was.
func (r *Repo) Trailers(commit string) (map[string][]string, error) {
	raw, err := r.rawCommit(commit)
	if err != nil {
		return nil, err
	}
	_, message, _ := bytes.Cut(raw, []byte("\n\n"))
	return trailers(strings.ToValidUTF8(string(message), "�")), nil
}

// Text stands for what is signed of a commit; see [signature.Object.Text]. It returns [ErrNoCommit].
func (r *Repo) Text(commit string) (string, error) {
	raw, err := r.rawCommit(commit)
	if err != nil {
		return "", err
	}
	signed, err := signature.ReadCommit(raw)
	if err != nil {
		return "", refused(fmt.Sprintf("reading commit %.12s", commit), err)
	}
	return signed.Text(), nil
}

func (r *Repo) rawCommit(commit string) ([]byte, error) {
	return again(r, func() ([]byte, error) {
		st := openStorage(r.dir)
		found, err := findCommit(st, commit)
		if err != nil {
			return nil, err
		}
		raw, err := rawObject(st, plumbing.CommitObject, found.Hash)
		if err != nil {
			return nil, refused(fmt.Sprintf("reading commit %.12s", commit), err)
		}
		return raw, nil
	})
}

var (
	trailer       = lazyregexp.New(`^([A-Za-z0-9-]+)[ \t]*:[ \t]*(.*)$`)
	gitsOwn       = lazyregexp.New(`^(Signed-off-by: |\(cherry picked from commit )`)
	continuation  = lazyregexp.New(`^[ \t]+\S`)
	betweenParts  = lazyregexp.New(`\n[ \t]*\n`)
	insideTrailer = lazyregexp.New(`\s+`)
)

func trailers(message string) map[string][]string {
	found := map[string][]string{}
	message = strings.TrimSpace(strings.ReplaceAll(message, "\r\n", "\n"))
	paragraphs := betweenParts().Split(message, -1)
	if len(paragraphs) < 2 {
		return found
	}
	lines := strings.Split(strings.Trim(paragraphs[len(paragraphs)-1], "\n"), "\n")
	if !areTrailers(lines) {
		return found
	}
	last := ""
	for _, line := range lines {
		parts := trailer().FindStringSubmatch(line)
		switch {
		case parts != nil:
			last = strings.ToLower(parts[1])
			found[last] = append(found[last], strings.TrimSpace(parts[2]))
		case last != "" && continuation().MatchString(line):
			values := found[last]
			joined := values[len(values)-1] + " " + line
			values[len(values)-1] = strings.TrimSpace(insideTrailer().ReplaceAllString(joined, " "))
		default:
			last = ""
		}
	}
	return found
}

// areTrailers applies git's rule: all lines are trailers, or one is of those
// that git itself writes and a quarter are trailers.
func areTrailers(lines []string) bool {
	yes, no, own := 0, 0, false
	for i, line := range lines {
		own = own || gitsOwn().MatchString(line)
		switch {
		case i > 0 && continuation().MatchString(line): // belongs to what is before it
		case trailer().MatchString(line), gitsOwn().MatchString(line):
			yes++
		default:
			no++
		}
	}
	return yes > 0 && (no == 0 || own && yes*3 >= no)
}
