package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os/exec"
	"strings"
)

// Object stores an object to the byte, whether git would take it or not, and returns its
// name.
func (r *Repository) Object(kind, content string) string {
	r.t.Helper()
	whole := fmt.Sprintf("%s %d\x00%s", kind, len(content), content)
	sum := sha1.Sum([]byte(whole))
	name := hex.EncodeToString(sum[:])
	var file bytes.Buffer
	z := zlib.NewWriter(&file)
	_, _ = z.Write([]byte(whole)) // to memory
	_ = z.Close()
	r.Write(".git/objects/"+name[:2]+"/"+name[2:], file.String())
	return name
}

// Point sets a ref. The work tree stays as it is, on the branch that is checked out too.
func (r *Repository) Point(ref, object string) {
	r.t.Helper()
	r.Write(".git/"+ref, object+"\n")
}

// Chain makes commits that follow the head and each other, with these contents of one
// file, and returns them. The branch stays where it is; see [Repository.Point].
func (r *Repository) Chain(file string, contents ...string) []string {
	r.t.Helper()
	return r.imported(file, contents, func(i int) string { return fmt.Sprintf(":%d", i) })
}

// Fan is as [Repository.Chain], with commits that all follow the head.
func (r *Repository) Fan(file string, contents ...string) []string {
	r.t.Helper()
	head := r.Head()
	return r.imported(file, contents, func(int) string { return head })
}

// imported makes commits with one process. Each but the first follows what parent returns,
// which is a commit or the mark of one: number 1 has the mark :1.
func (r *Repository) imported(file string, contents []string, parent func(i int) string) []string {
	r.t.Helper()
	var stream strings.Builder
	from := r.Head()
	for i, content := range contents {
		if i > 0 {
			from = parent(i)
		}
		fmt.Fprintf(&stream, "commit refs/imported\nmark :%d\ncommitter Ada <ada@example.com> now\ndata 6\nChange\nfrom %s\n", i+1, from)
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\nget-mark :%d\n", file, len(content), content, i+1)
	}
	cmd := exec.Command("git", "fast-import", "--quiet", "--force", "--date-format=now")
	cmd.Dir, cmd.Env = r.Dir, append(cmd.Environ(), Env...)
	cmd.Stdin = strings.NewReader(stream.String())
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git fast-import: %v", err)
	}
	r.Git("update-ref", "-d", "refs/imported")
	return strings.Fields(string(out))
}
