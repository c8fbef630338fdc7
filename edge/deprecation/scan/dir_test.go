package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/integration/must"
)

// literalsOf is what a tree yields, each literal as "FILE:LINE TEXT".
func literalsOf(t *testing.T, fsys fs.FS, o Options) ([]string, Stats) {
	t.Helper()
	var all []string
	stats, err := Dir(fsys, o, func(file string, c Call) error {
		all = append(all, fmt.Sprintf("%s:%d %s", file, c.Line, strings.TrimSpace(c.Method+" "+c.URL)))
		return nil
	})
	must.Do(t, err)
	return all, stats
}

func TestLiterals(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"client.go": {
			"package x\n// don't call \"/zones/1/filters\" or /bare/path\nvar a = fmt.Sprintf(\"/zones/%s/filters/%d\", z, n)\nvar b = \"/zones/\" + id + \"/firewall/rules\" + q\n" +
				"var c = `https://api.example.com/zones/` + url.PathEscape(z[\"id\"]) + `/filters`\nvar d = `\n  POST /zones/{id}/rate_limits HTTP/1.1\n  x`\nvar e = '/'\n",
			[]string{"2 /zones/1/filters", "3 /zones/{}/filters/{}", "4 /zones/{}/firewall/rules", "5 https://api.example.com/zones/{}/filters", "7 POST /zones/{}/rate_limits"},
		},
		"client.py": {
			"x = f'/zones/{zone[\"id\"]}/filters'\ny = f\"{BASE}/zones/{ z.id }/firewall/rules\"\nz = '/zones/%(id)s/filters' % d\nw = \"\"\"\nGET /accounts/{id}/tunnels\n\"\"\"\nv = \"/user/\" 'x'\n# it's \"/zones/2/filters\"\nu = '''/zones/:id/a'''\n",
			[]string{"1 /zones/{}/filters", "2 /zones/{}/firewall/rules", "3 /zones/{}/filters", "5 GET /accounts/{}/tunnels", "7 /user/x", "8 /zones/2/filters", "9 /zones/{}/a"},
		},
		"client.ts": {
			"const a = `/zones/${zone.id}/settings/${f({a: \"`\"})}`;\nconst b = `${base}/zones/${ ids[\"a\"] }/filters${qs}`\nfetch('\\/zones\\/' + id)\nconst c = `\n/in/a/template/${x}\n`; const d = \"/after/it\"\n",
			[]string{"1 /zones/{}/settings/{}", "2 /zones/{}/filters", "3 GET /zones/{}", "5 /in/a/template/{}", "6 /after/it"},
		},
		"client.rb":    {"get \"/zones/#{zone.id}/filters\"\nget '/zones/' + zone + '/filters'\n", []string{"1 GET /zones/{}/filters", "2 GET /zones/{}/filters"}},
		"doc.rb":       {"x = <<~TEXT.strip\n  POST /zones/#{id}/filters\nTEXT\ny = '/a/b'\n", []string{"2 POST /zones/{}/filters", "4 /a/b"}},
		"client.php":   {"<?php $u = '/zones/' . $zone->id() . '/filters'; $v = \"/zones/{$z}/a/$b\";\n", []string{"1 /zones/{}/filters", "1 /zones/{}/a/{}"}},
		"client.rs":    {"fn f<'a>(x: &'a str) { let u = format!(\"/zones/{}/filters\", x); let r = r#\"/zones/{id}/b\"#; }\n", []string{"1 /zones/{}/filters", "1 /zones/{}/b"}},
		"Client.java":  {"String a = \"/zones/\" + zone.get(\"id\") + \"/filters\"; // it's\nString b = BASE + \"/zones/\" + id;\n", []string{"1 /zones/{}/filters", "2 /zones/{}"}},
		"Client.swift": {"let a = \"/zones/\\(zone.id)/filters\"\n", []string{"1 /zones/{}/filters"}},
		"patterns.js": {
			"const u = base.replace(/\\/*$/, \"\") + `/zones/${id}/filters`\nconst v = \"/zones/\" + id.replace(/[\"'/]/g, \"\") + \"/a\", w = /^https?:\\/\\//.test(u), x = '/user/b' // not /c/d\n",
			[]string{"1 /zones/{}/filters", "2 /zones/{}/a", "2 /user/b"},
		},
		"long.lua":    {"local a = [[https://h.example/zones/]] .. zone .. [[/filters]]\n", []string{"1 https://h.example/zones/{}/filters"}},
		"client.lua":  {"local a = '/zones/' .. zone .. '/filters'\n", []string{"1 /zones/{}/filters"}},
		"client.ex":   {"a = \"/zones/\" <> zone <> \"/filters\"\n", []string{"1 /zones/{}/filters"}},
		"a.json":      {"{\"paths\": {\"/zones/{id}/filters\": {}, \"x\": \"https:\\/\\/h.example\\/a\"}}\n", []string{"1 /zones/{}/filters", "1 https://h.example/a"}},
		"a.yaml":      {"path: /zones/{id}/filters # not /this/one\nurl: https://h.example/a\nq: \"/quoted/b\"\n", []string{"1 /zones/{}/filters", "2 https://h.example/a", "3 /quoted/b"}},
		"run.sh":      {"curl $API/zones/$ZONE/filters -H 'a/b: c'\nURL=https://h.example/a\n", []string{"1 GET /zones/{}/filters", "2 https://h.example/a"}},
		"open.c":      {"char *a = \"/zones/1\nchar b = '\"'; char *c = \"/zones/2\";\n", []string{"2 /zones/2"}},
		"password.py": {"a = 'me:hunter2@api.example.com/zones/1'\nb = '//me:hunter2@h/zones/2'\n", []string{"1 /api.example.com/zones/1", "2 //h/zones/2"}},
		"crlf.go":     {"a := \"/zones/1\"\r\nb := \"/zones/2\"\r\n", []string{"1 /zones/1", "2 /zones/2"}},
	} {
		var want []string
		for _, w := range c.want {
			want = append(want, name+":"+w)
		}
		got, stats := literalsOf(t, fstest.MapFS{name: {Data: []byte(c.text)}}, Options{})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if stats.Files != 1 || stats.Calls != len(got) || stats.Lines != strings.Count(c.text, "\n") {
			t.Errorf("%s: stats say %+v", name, stats)
		}
	}
}

// Lines written to make a reader work for ever do not.
func TestLiteralsStayBounded(t *testing.T) {
	for name, text := range map[string]string{
		"escaped quotes": strings.Repeat(`\'`, 50_000),
		"open braces":    `"` + strings.Repeat("${", 50_000) + `"`,
		"joins":          strings.Repeat(`"/a/b" + (x + `, 20_000),
		"spaces":         `"` + strings.Repeat("{ a/", 50_000) + `"`,
	} {
		start := time.Now()
		_, _, err := scanAll(strings.NewReader(text), "a.py", Options{Format: Source})
		if took := time.Since(start); err != nil || took > 30*time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		}
	}
}

func TestDirPassesOver(t *testing.T) {
	root := t.TempDir()
	const text = "x = \"/zones/1/filters\"\n"
	for name, content := range map[string]string{
		"a.go": text, "sub/b.go": text, ".git/c.go": text, "node_modules/d.go": text, "sub/vendor/e.go": text,
		"binary": "\x00" + text, "binary.late": text + strings.Repeat("y", binaryHead-len(text)-1) + "\x00", "large.go": text + strings.Repeat("y", 20<<10),
		"text.late": text + strings.Repeat("y", binaryHead) + "\x00", "forbidden.go": text,
	} {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		must.Do(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o644))
	}
	for _, link := range []string{"link.go", "link"} {
		must.Do(t, os.Symlink(filepath.Join(root, map[string]string{"link.go": "a.go", "link": "sub"}[link]), filepath.Join(root, link)))
	}
	got, stats := literalsOf(t, unreadableFile{os.DirFS(root), "forbidden.go"}, Options{MaxFile: 16 << 10})
	if diff := cmp.Diff([]string{"a.go:1 /zones/1/filters", "sub/b.go:1 /zones/1/filters", "text.late:1 /zones/1/filters"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var skipped []string
	for _, s := range stats.First {
		skipped = append(skipped, s.File+": "+s.Reason)
	}
	slices.Sort(skipped)
	if diff := cmp.Diff([]string{"forbidden.go: permission denied", "large.go: larger than the bound of 16 KiB"}, skipped); diff != "" || stats.Skipped != 2 || stats.Files != 3 {
		t.Errorf("stats say %+v (-want +got):\n%s", stats, diff)
	}
}

// unreadableFile is a tree with a file that may not be read, for tests that run
// as root as well.
type unreadableFile struct {
	fs.FS
	name string
}

func (u unreadableFile) Open(name string) (fs.File, error) {
	if name == u.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.FS.Open(name)
}

func TestDirStopsAndFails(t *testing.T) {
	stop := errors.New("stop")
	_, err := Dir(fstest.MapFS{"a.go": {Data: []byte("\"/a/b\" \"/c/d\"")}}, Options{}, func(string, Call) error { return stop })
	if err != stop {
		t.Errorf("an error of literal becomes %v", err)
	}
	if _, err := Dir(os.DirFS(filepath.Join(t.TempDir(), "gone")), Options{}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	got, _ := literalsOf(t, fstest.MapFS{"a.go": {Data: []byte("\"/a/b\" \"/c/d\"")}}, Options{Keep: func(target []byte) bool { return string(target) == "/c/d" }})
	if diff := cmp.Diff([]string{"a.go:1 /c/d"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLargePlanInATree: a plan of Terraform is read past the bound of other files.
func TestLargePlanInATree(t *testing.T) {
	plan := `{"format_version": "1.2", "filler": "` + strings.Repeat("x", 20<<10) + `", "resource_changes": [{"address": "cloudflare_filter.a",
		"type": "cloudflare_filter", "name": "a", "provider_name": "registry.terraform.io/cloudflare/cloudflare", "change": {"actions": ["create"], "after": {"zone_id": "z"}}}]}`
	got, stats := literalsOf(t, fstest.MapFS{"plan.json": {Data: []byte(plan)}, "other.json": {Data: []byte(`{"a": "` + strings.Repeat("x", 20<<10) + `"}`)}}, Options{MaxFile: 16 << 10})
	if len(got) == 0 || !strings.HasPrefix(got[0], "plan.json:") || len(stats.Unread) != 1 {
		t.Errorf("got %v, unread %v", got, stats.Unread)
	}
}
