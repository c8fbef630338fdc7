// Package sinktest has what the sinks speak to, in memory and over HTTP, for
// tests: a Vault with its secrets engine KV, version 2, and a Kubernetes API
// server with Secrets. They follow the documented calls, and remember the calls.
//
//	vault := sinktest.NewVault()
//	defer vault.Close()
//	vault.Tokens["hvs.1"] = sinktest.AllRights
package sinktest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// AllRights are the capabilities that a sink needs.
const AllRights = "read create update patch"

// Vault is a server with one secrets engine at the mount "secret", and logins at
// auth/approle and auth/kubernetes. Its fields may be changed between calls, or
// by Before, or with Set.
type Vault struct {
	*httptest.Server

	Tokens    map[string]string // token → capabilities on everything in the engine
	Namespace string            // the only one that is served
	SecretIDs map[string]string // role id → secret id
	JWTs      map[string]string // role → token of a service account
	Issued    string            // the token that a login gives
	Rights    string            // and its capabilities

	Sealed  bool
	OldKind bool // version 1 of the engine
	NoPatch bool // a server older than patch
	Echo    bool // errors repeat all that was sent
	Before  func(method, path string)

	mu    sync.Mutex
	calls []string
	kept  map[string][]Version
}

// Version is one version of what is kept at a path.
type Version struct {
	Data    map[string]any
	Deleted bool
}

// NewVault starts a server on the loopback.
func NewVault() *Vault { return startVault(httptest.NewServer) }

// NewTLSVault starts one with a certificate of its own.
func NewTLSVault() *Vault { return startVault(httptest.NewTLSServer) }

func startVault(start func(http.Handler) *httptest.Server) *Vault {
	v := &Vault{Tokens: map[string]string{}, SecretIDs: map[string]string{}, JWTs: map[string]string{}, kept: map[string][]Version{}}
	v.Server = start(v)
	return v
}

// Calls returns the calls so far, "GET secret/data/a", and forgets them.
func (v *Vault) Calls() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	defer func() { v.calls = nil }()
	return v.calls
}

// Set changes fields while the caller is another process, whose calls have no
// order with the test's own steps.
func (v *Vault) Set(change func(*Vault)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change(v)
}

// Put adds a version at a path below secret/data.
func (v *Vault) Put(path string, version Version) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept[path] = append(v.kept[path], version)
}

// Versions returns all versions at a path below secret/data.
func (v *Vault) Versions(path string) []Version {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.kept[path])
}

// Paths returns all paths at which something is kept.
func (v *Vault) Paths() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Sorted(maps.Keys(v.kept))
}

// vaultCall is one call and what was sent with it.
type vaultCall struct {
	w            http.ResponseWriter
	method, path string
	header       http.Header
	text         string
	body         struct {
		Data    map[string]any
		Options struct{ CAS *int }
		RoleID  string `json:"role_id"`
		Secret  string `json:"secret_id"`
		Role    string
		JWT     string
	}
}

func (v *Vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body) // a test's own request
	c := vaultCall{w: w, method: r.Method, path: strings.TrimPrefix(r.URL.EscapedPath(), "/v1/"), header: r.Header, text: string(text)}
	_ = json.Unmarshal(text, &c.body) // where there is none
	if v.Before != nil {
		v.Before(c.method, c.path)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls = append(v.calls, c.method+" "+c.path)
	path, isData := strings.CutPrefix(c.path, "secret/data/")
	switch {
	case v.Sealed:
		v.fail(c, http.StatusServiceUnavailable, "Vault is sealed")
	case r.Header.Get("X-Vault-Namespace") != v.Namespace:
		v.fail(c, http.StatusNotFound, "no such namespace")
	case c.path == "auth/approle/login":
		v.login(c, c.body.Secret != "" && v.SecretIDs[c.body.RoleID] == c.body.Secret)
	case c.path == "auth/kubernetes/login":
		v.login(c, c.body.JWT != "" && v.JWTs[c.body.Role] == c.body.JWT)
	case c.path == "auth/token/revoke-self":
		delete(v.Tokens, c.token())
		w.WriteHeader(http.StatusNoContent)
	case !isData:
		v.fail(c, http.StatusNotFound, fmt.Sprintf("no handler for route %q. route entry not found.", c.path))
	case v.OldKind:
		w.WriteHeader(http.StatusNoContent)
	default:
		v.data(c, path)
	}
}

func (c vaultCall) token() string { return c.header.Get("X-Vault-Token") }

func (v *Vault) login(c vaultCall, ok bool) {
	if !ok {
		v.fail(c, http.StatusBadRequest, "invalid role or secret ID")
		return
	}
	v.Tokens[v.Issued] = v.Rights
	answer(c.w, http.StatusOK, map[string]any{"auth": map[string]any{"client_token": v.Issued, "lease_duration": 3600}})
}

func (v *Vault) data(c vaultCall, path string) {
	versions := v.kept[path]
	now := len(versions)
	need := map[string]string{"GET": "read", "PATCH": "patch", "PUT": "create", "POST": "create"}[c.method]
	if need == "create" && now > 0 {
		need = "update"
	}
	switch {
	case need == "" || !slices.Contains(strings.Fields(v.Tokens[c.token()]), need):
		v.fail(c, http.StatusForbidden, "1 error occurred:\n\t* permission denied\n\n")
	case need == "read":
		v.read(c, versions)
	case need == "patch" && v.NoPatch:
		v.fail(c, http.StatusMethodNotAllowed, "unsupported operation")
	case need == "patch" && c.header.Get("Content-Type") != "application/merge-patch+json":
		v.fail(c, http.StatusUnsupportedMediaType, "unsupported media type")
	case need == "patch" && !alive(versions):
		v.fail(c, http.StatusNotFound)
	case c.body.Options.CAS != nil && *c.body.Options.CAS != now:
		v.fail(c, http.StatusBadRequest, "check-and-set parameter did not match the current version")
	default:
		data := map[string]any{}
		if need == "patch" {
			maps.Copy(data, versions[now-1].Data)
		}
		maps.Copy(data, c.body.Data)
		v.kept[path] = append(versions, Version{Data: data})
		answer(c.w, http.StatusOK, map[string]any{"data": about(now+1, false)})
	}
}

// read answers with the last version.
func (v *Vault) read(c vaultCall, versions []Version) {
	now := len(versions)
	switch {
	case now == 0:
		v.fail(c, http.StatusNotFound)
	case !alive(versions):
		answer(c.w, http.StatusNotFound, map[string]any{"data": map[string]any{"data": nil, "metadata": about(now, true)}})
	default:
		answer(c.w, http.StatusOK, map[string]any{"data": map[string]any{"data": versions[now-1].Data, "metadata": about(now, false)}})
	}
}

// alive reports whether the last version is there and not deleted.
func alive(versions []Version) bool { return len(versions) > 0 && !versions[len(versions)-1].Deleted }

func about(version int, deleted bool) map[string]any {
	at := ""
	if deleted {
		at = time.Unix(1, 0).UTC().Format(time.RFC3339)
	}
	return map[string]any{"created_time": "2026-01-01T00:00:00Z", "deletion_time": at, "destroyed": false, "version": version}
}

func (v *Vault) fail(c vaultCall, status int, messages ...string) {
	if v.Echo {
		messages = append(messages, c.text, fmt.Sprint(c.header))
	}
	if messages == nil {
		messages = []string{}
	}
	answer(c.w, status, map[string]any{"errors": messages})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may be gone
}
