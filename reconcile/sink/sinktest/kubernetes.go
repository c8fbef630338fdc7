package sinktest

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
)

// Kubernetes is an API server with one namespace, "apps", over TLS.
type Kubernetes struct {
	*httptest.Server

	Token  string          // of the only one who may do anything; "" for everybody
	Rights map[string]bool // get, create, patch; nil for all
	Echo   bool            // errors repeat all that was sent
	Down   int             // the status of every answer, where it is not 0
	Before func(method, path string)

	mu      sync.Mutex
	calls   []string
	kept    map[string]Secret
	version int
}

// Secret is what the server keeps of one.
type Secret struct {
	Labels    map[string]string
	Data      map[string][]byte
	Type      string
	Immutable bool
	Version   string
}

// NewKubernetes starts a server on the loopback.
func NewKubernetes() *Kubernetes {
	k := &Kubernetes{kept: map[string]Secret{}}
	k.Server = httptest.NewUnstartedServer(k)
	k.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are to fail
	k.StartTLS()
	return k
}

// CA returns the certificate that the server shows, in PEM.
func (k *Kubernetes) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: k.Certificate().Raw})
}

// Set changes fields while the caller is another process; see Vault.Set.
func (k *Kubernetes) Set(change func(*Kubernetes)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(k)
}

// Calls returns the calls so far, "GET apps/secrets/a", and forgets them.
func (k *Kubernetes) Calls() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	defer func() { k.calls = nil }()
	return k.calls
}

// Put keeps a Secret, whatever was there, in a new version.
func (k *Kubernetes) Put(name string, s Secret) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.put(name, s)
}

func (k *Kubernetes) put(name string, s Secret) Secret {
	k.version++
	s.Version = strconv.Itoa(k.version)
	k.kept[name] = s
	return s
}

// Delete forgets a Secret.
func (k *Kubernetes) Delete(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.kept, name)
}

// Secrets returns all that is kept.
func (k *Kubernetes) Secrets() map[string]Secret {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.kept)
}

// kubeCall is one call and what was sent with it.
type kubeCall struct {
	w                    http.ResponseWriter
	method, name, sent   string
	authorization, media string
	body                 wireSecret
}

type wireSecret struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name            string            `json:"name"`
		Namespace       string            `json:"namespace"`
		ResourceVersion string            `json:"resourceVersion,omitempty"`
		Labels          map[string]string `json:"labels,omitempty"`
	} `json:"metadata"`
	Type      string            `json:"type,omitempty"`
	Immutable bool              `json:"immutable,omitempty"`
	Data      map[string][]byte `json:"data,omitempty"`
}

func (k *Kubernetes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body) // a test's own request
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v1/namespaces/")
	c := kubeCall{w: w, method: r.Method, sent: string(text), authorization: r.Header.Get("Authorization"), media: r.Header.Get("Content-Type")}
	_ = json.Unmarshal(text, &c.body) // where there is none
	if k.Before != nil {
		k.Before(c.method, path)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls = append(k.calls, c.method+" "+path)
	verb := map[string]string{"GET": "get", "POST": "create", "PATCH": "patch"}[c.method]
	rest, inside := strings.CutPrefix(path, "apps/secrets")
	c.name = strings.TrimPrefix(rest, "/")
	switch {
	case k.Down != 0:
		k.fail(c, k.Down, "the server is currently unable to handle the request")
	case k.Token != "" && c.authorization != "Bearer "+k.Token:
		k.fail(c, http.StatusUnauthorized, "Unauthorized")
	case verb == "" || k.Rights != nil && !k.Rights[verb]:
		k.fail(c, http.StatusForbidden, fmt.Sprintf(`secrets %q is forbidden: User "system:serviceaccount:seawall:seawall" cannot %s resource "secrets" in API group "" in the namespace "apps"`, c.name, verb))
	case !inside && verb == "create":
		k.fail(c, http.StatusNotFound, `namespaces "other" not found`)
	case !inside || strings.Contains(c.name, "/"):
		k.fail(c, http.StatusNotFound, "not found")
	case verb == "create":
		k.create(c)
	default:
		k.one(c, verb)
	}
}

func (k *Kubernetes) create(c kubeCall) {
	if _, there := k.kept[c.body.Metadata.Name]; there {
		k.fail(c, http.StatusConflict, fmt.Sprintf("secrets %q already exists", c.body.Metadata.Name))
		return
	}
	s := Secret{Labels: c.body.Metadata.Labels, Data: c.body.Data, Type: c.body.Type, Immutable: c.body.Immutable}
	c.name = c.body.Metadata.Name
	k.show(c, http.StatusCreated, k.put(c.name, s))
}

func (k *Kubernetes) one(c kubeCall, verb string) {
	s, there := k.kept[c.name]
	switch {
	case !there:
		k.fail(c, http.StatusNotFound, fmt.Sprintf("secrets %q not found", c.name))
	case verb == "get":
		k.show(c, http.StatusOK, s)
	case c.media != "application/merge-patch+json":
		k.fail(c, http.StatusUnsupportedMediaType, "the body of the request was in an unknown format")
	case c.body.Metadata.ResourceVersion != "" && c.body.Metadata.ResourceVersion != s.Version:
		k.fail(c, http.StatusConflict, fmt.Sprintf("Operation cannot be fulfilled on secrets %q: the object has been modified; please apply your changes to the latest version and try again", c.name))
	case s.Immutable:
		k.fail(c, http.StatusUnprocessableEntity, fmt.Sprintf("Secret %q is invalid: data: Forbidden: field is immutable when `immutable` is set", c.name))
	default:
		s.Data = maps.Clone(s.Data)
		if s.Data == nil {
			s.Data = map[string][]byte{}
		}
		maps.Copy(s.Data, c.body.Data)
		k.show(c, http.StatusOK, k.put(c.name, s))
	}
}

func (k *Kubernetes) show(c kubeCall, status int, s Secret) {
	out := wireSecret{APIVersion: "v1", Kind: "Secret", Type: s.Type, Immutable: s.Immutable, Data: s.Data}
	out.Metadata.Name, out.Metadata.Namespace, out.Metadata.ResourceVersion, out.Metadata.Labels = c.name, "apps", s.Version, s.Labels
	answer(c.w, status, out)
}

func (k *Kubernetes) fail(c kubeCall, status int, message string) {
	if k.Echo {
		message += ": " + c.authorization + " " + c.sent
	}
	answer(c.w, status, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": status})
}
