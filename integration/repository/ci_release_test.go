package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// fakeGo stands in for the go command: it builds empty files, and says that it has
// recorded $RECORDED in them. Fuzzing fails for the target $FAILS.
const fakeGo = `#!/bin/sh
echo "go $GOOS/$GOARCH $*" >>"$CALLS"
case $1 in
build) while [ "$1" != -o ]; do shift; done; echo "$GOOS $GOARCH" >"$2" ;;
run) printf '{"bomFormat": "CycloneDX", "of": "%s"}\n' "$4" ;;
version) printf '%s: go1.26\n\tpath\tx\n\tmod\tgithub.com/seawall-dev/seawall\t%s\t\n' "$3" "$RECORDED" ;;
test) case "$*" in *"^$FAILS$"*) exit 1 ;; esac ;;
esac
`

// fakeGh stands in for the client of GitHub. It has a release where $RELEASED is set.
const fakeGh = `#!/bin/sh
printf 'gh' >>"$CALLS"
for arg; do printf ' [%s]' "$arg" >>"$CALLS"; done
echo >>"$CALLS"
case "$1 $2" in
"release view") [ -n "$RELEASED" ] ;;
"release download") cp "$RELEASED"/* "$5" ;;
"attestation verify") [ -z "$FORGED" ] ;;
esac
`

// fakePodman stands in for podman: it pushes an image with a digest, and keeps what images
// are made of.
const fakePodman = `#!/bin/sh
printf 'podman' >>"$CALLS"
for arg; do printf ' [%s]' "$arg" >>"$CALLS"; done
echo >>"$CALLS"
case "$1 $2" in
"build --platform") for last; do :; done; cp "$last/out/seawall" "$CALLS.${3#linux/}"; ls -ld "$last/out/state" >>"$CALLS" ;;
"manifest push") echo "sha256:0123" >"$5" ;;
"login --username") cat >"$CALLS.password" ;;
esac
`

// ciFolder is a repository in which a script of .ci runs beside programs that stand in
// for go and gh.
type ciFolder struct {
	folder string
	calls  string
	env    []string
}

func newCIFolder(t *testing.T, env ...string) ciFolder {
	t.Helper()
	bin := programs(t, map[string]string{"go": fakeGo, "gh": fakeGh, "podman": fakePodman})
	f := ciFolder{folder: t.TempDir(), calls: filepath.Join(bin, "calls")}
	f.env = append([]string{pathOf(bin), "HOME=" + bin, "GIT_CONFIG_NOSYSTEM=1", "NFPM=nfpm", "COSIGN=cosign", "CALLS=" + f.calls}, env...)
	return f
}

// run runs a script and returns what it wrote and what it called.
func (f ciFolder) run(t *testing.T, script string, args ...string) (out, calls string, err error) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(harness.Root, ".ci", script))
	must.Do(t, err)
	command := exec.Command(path, args...)
	command.Dir, command.Env = f.folder, f.env
	output, err := command.CombinedOutput()
	called, _ := os.ReadFile(f.calls) // none where nothing was called
	return string(output), string(called), err
}

// TestCIReleaseChecksTheVersion: binaries of another version than the tag's are an
// error, and each platform has a file with a checksum.
func TestCIReleaseChecksTheVersion(t *testing.T) {
	t.Parallel()
	f := newCIFolder(t, "RECORDED=v1.2.3")
	out, calls, err := f.run(t, "release", "v1.2.3", "linux/amd64", "darwin/arm64")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sums := harness.ReadText(t, filepath.Join(f.folder, "dist", "SHA256SUMS"))
	if !strings.Contains(sums, "  seawall-linux-amd64\n") || !strings.Contains(sums, "  seawall-darwin-arm64\n") || !strings.Contains(sums, "  seawall-darwin-arm64.cdx.json\n") || harness.CountLines(sums) != 4 {
		t.Errorf("checksums:\n%s", sums)
	}
	if got := harness.ReadText(t, filepath.Join(f.folder, "dist", "seawall-darwin-arm64")); got != "darwin arm64\n" {
		t.Errorf("built for %q", got)
	}
	if _, err := os.Stat(filepath.Join(f.folder, "dist", ".stage")); !os.IsNotExist(err) {
		t.Errorf("the folder for packages is left: %v", err)
	}
	for _, kind := range []string{"deb", "rpm", "apk"} {
		if n := strings.Count(calls, "run nfpm package --config nfpm.yaml --packager "+kind+" --target .."); n != 1 {
			t.Errorf("%d packages of kind %s, want one, for Linux:\n%s", n, kind, calls)
		}
	}
	if got := harness.ReadText(t, filepath.Join(f.folder, "dist", "seawall-darwin-arm64.cdx.json")); !strings.Contains(got, `"of": "dist/seawall-darwin-arm64"`) {
		t.Errorf("the bill of materials: %s", got)
	}
	for _, recorded := range []string{"v1.2.3+dirty", "(devel)", "v1.2.4"} {
		f := newCIFolder(t, "RECORDED="+recorded)
		if out, _, err := f.run(t, "release", "v1.2.3", "linux/amd64"); err == nil || !strings.Contains(out, "recorded "+recorded) {
			t.Errorf("%s: %v: %s", recorded, err, out)
		}
	}
}

// TestCIPublish: the release gets the section of the changelog as its text, and a
// second try attaches the files again.
func TestCIPublish(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		version, released string
		create            string // in the calls; empty: nothing is created
		ok                bool
	}{
		"new":           {"v1.2.3", "", "[--title] [Seawall v1.2.3] [--notes] [\n- One.\n\n- Two.]", true},
		"again":         {"v1.2.3", "yes", "", true},
		"prerelease":    {"v1.3.0-rc.1", "", "[--prerelease]", true},
		"not a tag":     {"main", "", "", false},
		"no section":    {"v9.9.9", "", "", false},
		"part of a tag": {"v1.2", "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newCIFolder(t, "RECORDED=v1.2.3", "RELEASED="+test.released)
			harness.Write(t, f.folder, "CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n- Not yet.\n\n## [1.3.0-rc.1]\n\n- Soon.\n\n## [1.2.3] - 2026-01-01\n\n- One.\n\n- Two.\n\n## [1.2.2]\n\n- Old.\n")
			if out, _, err := f.run(t, "release", "", "linux/amd64"); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			out, calls, err := f.run(t, "publish", test.version)
			if (err == nil) != test.ok {
				t.Fatalf("ended with %v: %s", err, out)
			}
			if uploads := strings.Count(calls, "[upload] ["+test.version+"] [dist/seawall-linux-amd64] [dist/seawall-linux-amd64.cdx.json] [dist/SHA256SUMS] [--clobber]"); (uploads == 1) != test.ok {
				t.Errorf("%d uploads:\n%s", uploads, calls)
			}
			if created := strings.Contains(calls, "[create]"); created != (test.create != "") || !strings.Contains(calls, test.create) {
				t.Errorf("want %q in\n%s", test.create, calls)
			}
		})
	}
}

// TestCIImage: the image has the binaries of the release, once their checksums and their
// provenance are verified, is what the manifests name, and is signed by its digest.
func TestCIImage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		version, forged, change string
		want                    string // of the error; empty: there is none
	}{
		"released":         {version: "v1.2.3"},
		"prerelease":       {version: "v1.3.0-rc.1"},
		"not a tag":        {version: "main", want: "must be a tag"},
		"another manifest": {version: "v1.2.4", want: `kustomization.yaml does not say     newTag: "1.2.4"`},
		"no provenance":    {version: "v1.2.3", forged: "yes"},
		"a changed binary": {version: "v1.2.3", change: "seawall-linux-arm64", want: "seawall-linux-arm64: FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			f := releasedFolder(t, test.change, "FORGED="+test.forged)
			out, calls, err := f.run(t, "image", test.version, "ghcr.io/seawall-dev/seawall")
			pushed := strings.Contains(calls, "podman [manifest] [push]")
			if test.want != "" || test.forged != "" {
				if err == nil || !strings.Contains(out, test.want) || pushed {
					t.Fatalf("ended with %v, pushed: %v: %s", err, pushed, out)
				}
				return
			}
			if err != nil || !pushed {
				t.Fatalf("ended with %v: %s\n%s", err, out, calls)
			}
			f.wantImage(t, test.version, out, calls)
		})
	}
}

// releasedFolder is a folder at the release v1.2.3, of which one file was changed.
func releasedFolder(t *testing.T, changed string, env ...string) (f ciFolder) {
	t.Helper()
	released := t.TempDir()
	f = newCIFolder(t, append(env, "RELEASED="+released, "REGISTRY_USER=ada", "REGISTRY_TOKEN=s3cret", "RECORDED=v1.2.3")...)
	if out, _, err := f.run(t, "release", "", "linux/amd64", "linux/arm64"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, file := range []string{"seawall-linux-amd64", "seawall-linux-arm64", "SHA256SUMS"} {
		harness.Write(t, released, file, harness.ReadText(t, filepath.Join(f.folder, "dist", file)))
	}
	if changed != "" {
		harness.Write(t, released, changed, "another one")
	}
	harness.Write(t, f.folder, "deploy/kubernetes/kustomization.yaml", "images:\n  - name: seawall\n    newTag: \"1.2.3\"\n")
	harness.Write(t, f.folder, "deploy/helm/seawall/Chart.yaml", "appVersion: \"1.2.3\"\n")
	harness.Write(t, f.folder, "deploy/container/Dockerfile", "FROM golang AS build\nRUN go build\nFROM static\nCOPY --from=build /out/seawall /\n")
	for _, args := range [][]string{{"init", "--quiet"}, {"commit", "--quiet", "--allow-empty", "--message", "Release"}} {
		command := exec.Command("git", args...)
		command.Dir, command.Env = f.folder, append(os.Environ(), gittest.Env...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return f
}

// wantImage compares what podman and cosign were called with.
func (f ciFolder) wantImage(t *testing.T, version, out, calls string) {
	t.Helper()
	for arch, line := range map[string]string{"amd64": "linux amd64\n", "arm64": "linux arm64\n"} {
		if got := harness.ReadText(t, f.calls+"."+arch); got != line {
			t.Errorf("the image for %s has %q", arch, got)
		}
	}
	for _, call := range []string{
		"[login] [--username] [ada] [--password-stdin] [ghcr.io]", "drwx------", "[org.opencontainers.image.version=" + version[1:] + "]",
		"run cosign sign --yes ghcr.io/seawall-dev/seawall@sha256:0123", "[attestation] [verify] [dist/.image/seawall-linux-arm64] [--repo] [seawall-dev/seawall]",
	} {
		if !strings.Contains(calls, call) {
			t.Errorf("want %q in\n%s", call, calls)
		}
	}
	if strings.Contains(calls, "s3cret") || strings.Contains(out, "s3cret") {
		t.Error("the password is shown")
	}
}

// TestCIFuzzRunsEachTarget: each target by itself, all of them also where one fails.
func TestCIFuzzRunsEachTarget(t *testing.T) {
	for name, test := range map[string]struct {
		names, fails string
		runs         int
		ok           bool
	}{
		"all":         {".", "none", 3, true},
		"one fails":   {".", "FuzzA", 3, false},
		"some":        {"^FuzzB$", "none", 1, true},
		"none is red": {"FuzzX", "none", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newCIFolder(t, "FAILS="+test.fails)
			harness.Write(t, f.folder, "a/a_test.go", "package a\n\nfunc FuzzA(f *testing.F) {}\n\nfunc FuzzAll(f *testing.F) {}\n")
			harness.Write(t, f.folder, "b/b_test.go", "package b\n\nfunc FuzzB(f *testing.F) {}\n\n// func FuzzNot(f)\n")
			if out, err := exec.Command("git", "init", "-q", f.folder).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			out, calls, err := f.run(t, "fuzz", "5s", test.names)
			if (err == nil) != test.ok {
				t.Errorf("ended with %v: %s", err, out)
			}
			if runs := strings.Count(calls, " -fuzztime 5s ./"); runs != test.runs {
				t.Errorf("%d runs, want %d:\n%s", runs, test.runs, calls)
			}
		})
	}
}
