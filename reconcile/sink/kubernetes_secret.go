package sink

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/seawall-dev/seawall/edge"
)

// object is what is read and written of a Secret.
type object struct {
	APIVersion string            `json:"apiVersion,omitempty"`
	Kind       string            `json:"kind,omitempty"`
	Metadata   metadata          `json:"metadata"`
	Type       string            `json:"type,omitempty"`
	Immutable  bool              `json:"immutable,omitempty"`
	Data       map[string][]byte `json:"data,omitempty"` // Base64 in JSON
}

type metadata struct {
	Name            string            `json:"name,omitempty"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
}

// The label by which a person lets Seawall write to a Secret.
const (
	ownerLabel = "app.kubernetes.io/managed-by"
	owner      = "seawall"
)

// secretEntry is one entry of one Secret.
type secretEntry struct {
	*caller
	namespace, name, entry string
	found                  *object // what holds has read; nil where there is none
}

func (s *secretEntry) all() string  { return "/api/v1/namespaces/" + s.namespace + "/secrets" }
func (s *secretEntry) this() string { return s.all() + "/" + s.name }

// holds refuses a Secret that is not Seawall's, so that nothing in it is even
// compared.
func (s *secretEntry) holds(ctx context.Context, secret edge.Secret) (bool, error) {
	s.found = nil
	doing := fmt.Sprintf("reading Secret %s/%s", s.namespace, s.name)
	status, answer, err := s.call(ctx, http.MethodGet, s.this(), "", nil)
	switch {
	case err != nil:
		return false, s.failed(ctx, doing, err)
	case status == http.StatusNotFound:
		return false, nil
	case status != http.StatusOK:
		return false, s.refused(doing, status, answer)
	}
	var found object
	if err := json.Unmarshal(answer, &found); err != nil || found.Kind != "Secret" || found.Metadata.ResourceVersion == "" {
		return false, fmt.Errorf("%s: the answer is not a Secret", doing)
	}
	if found.Metadata.Labels[ownerLabel] != owner {
		return false, fmt.Errorf("the Secret %s/%s is not written: it does not have the label %s=%s; to allow it: kubectl -n %s label secret %s %s=%s",
			s.namespace, s.name, ownerLabel, owner, s.namespace, s.name, ownerLabel, owner)
	}
	s.found = &found
	value, ok := found.Data[s.entry]
	return ok && same(string(value), secret), nil
}

// write makes the Secret, or changes the one entry of the version that was read.
func (s *secretEntry) write(ctx context.Context, secret edge.Secret) error {
	doing := fmt.Sprintf("writing Secret %s/%s", s.namespace, s.name)
	method, path, form := http.MethodPost, s.all(), "application/json"
	body := object{
		APIVersion: "v1", Kind: "Secret", Type: "Opaque",
		Metadata: metadata{Name: s.name, Labels: map[string]string{ownerLabel: owner}},
		Data:     map[string][]byte{s.entry: []byte(secret.Reveal())},
	}
	if s.found != nil {
		if s.found.Immutable {
			return fmt.Errorf("%s: it is immutable: delete it, and the next run creates it again", doing)
		}
		method, path, form = http.MethodPatch, s.this(), "application/merge-patch+json"
		body = object{Metadata: metadata{ResourceVersion: s.found.Metadata.ResourceVersion}, Data: body.Data}
	}
	status, answer, err := s.call(ctx, method, path, form, body)
	switch {
	case err != nil:
		return s.failed(ctx, doing, err)
	case status == http.StatusConflict, method == http.MethodPatch && status == http.StatusNotFound:
		return errConflict
	case status != http.StatusOK && status != http.StatusCreated:
		return s.refused(doing, status, answer)
	}
	return nil
}

// refused says what the API server says.
func (s *secretEntry) refused(doing string, status int, answer []byte) error {
	var said struct{ Message string }
	_ = json.Unmarshal(answer, &said) // something in between may have answered
	hint := "the next run tries again"
	switch status {
	case http.StatusUnauthorized:
		hint = "the credential is not valid or has expired"
	case http.StatusForbidden:
		hint = "its Role needs get, create and patch on secrets in namespace " + s.namespace
	case http.StatusNotFound:
		hint = "check that the namespace " + s.namespace + " exists"
	}
	return fmt.Errorf("%s: Kubernetes answered %d and said %q; %s", doing, status, redacted(said.Message), hint)
}
