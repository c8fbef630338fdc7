package sink

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/vault/api"

	"github.com/seawall-dev/seawall/edge"
)

// visit is one delivery to Vault.
type visit struct {
	vault
	client *api.Client
	path   string        // below the mount
	found  *api.KVSecret // what holds has read; nil where nothing ever was
	mine   bool          // the token was made by a login, for this visit
}

func (v vault) reach(ctx context.Context, key string) (exchange, func(), error) {
	client, err := v.client()
	if err != nil {
		return nil, nil, errors.New(redacted(err.Error()))
	}
	to := &visit{vault: v, client: client, path: v.Prefix + "/" + key}
	if err := to.login(ctx); err != nil {
		to.leave(ctx)
		return nil, nil, err
	}
	return to, func() { to.leave(ctx) }, nil
}

// login gives the client a token.
func (v *visit) login(ctx context.Context) error {
	var err error
	switch a := v.Auth; {
	case a.AppRole != nil:
		err = v.loginWith(ctx, cmp.Or(a.AppRole.Mount, "approle"), "role_id", a.AppRole.RoleID, "secret_id", a.AppRole.SecretID)
	case a.Kubernetes != nil:
		err = v.loginWith(ctx, cmp.Or(a.Kubernetes.Mount, "kubernetes"), "role", a.Kubernetes.Role, "jwt", a.Kubernetes.JWT)
	default:
		var token edge.Secret
		token, err = v.credential(a.Token)
		v.client.SetToken(token.Reveal())
	}
	return err
}

// credential reads a credential.
func (v *visit) credential(read func() (edge.Secret, error)) (edge.Secret, error) {
	secret, err := read()
	if err != nil {
		return secret, fmt.Errorf("the credential for Vault: %w", err)
	}
	return secret, nil
}

func (v *visit) loginWith(ctx context.Context, mount, roleField, role, proofField string, proof func() (edge.Secret, error)) error {
	secret, err := v.credential(proof)
	if err != nil {
		return err
	}
	doing := "logging in at auth/" + mount
	answer, err := v.client.Logical().WriteWithContext(ctx, "auth/"+mount+"/login", map[string]any{roleField: role, proofField: secret.Reveal()})
	if err != nil {
		return v.told(ctx, doing, err, fmt.Sprintf("check that role %q exists and that its credential is valid", role))
	}
	if answer == nil || answer.Auth == nil || answer.Auth.ClientToken == "" {
		return errors.New(doing + ": the answer holds no token; a login with several factors is not supported")
	}
	_ = edge.NewSecret(answer.Auth.ClientToken) // no error repeats it from now on
	v.client.SetToken(answer.Auth.ClientToken)
	v.mine = true
	return nil
}

// goodbye bounds how long giving back a token may take.
const goodbye = 5 * time.Second

// leave gives back a token that a login made, also after a visit that ran out of
// time. Where that is not allowed it ends by itself.
func (v *visit) leave(ctx context.Context) {
	if v.mine {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
		defer cancel()
		_, _ = v.client.Logical().WriteWithContext(ctx, "auth/token/revoke-self", nil)
	}
}

// where is the path as a policy has it.
func (v *visit) where() string { return v.Mount + "/data/" + v.path }

func (v *visit) rights() string {
	return fmt.Sprintf("check that the credential is valid and that its policy allows read, create, update and patch on %s/data/%s/*", v.Mount, v.Prefix)
}

// holds reads the newest version. One that was deleted counts as found, without
// data: the next version has to name it.
func (v *visit) holds(ctx context.Context, secret edge.Secret) (bool, error) {
	found, err := v.client.KVv2(v.Mount).Get(ctx, v.path)
	switch {
	case errors.Is(err, api.ErrSecretNotFound):
		v.found = nil
		return false, nil
	case err != nil:
		return false, v.told(ctx, "reading "+v.where(), err, v.rights())
	case found.VersionMetadata == nil:
		return false, fmt.Errorf("reading %s: the answer has no version; check that %s is an engine of type KV, version 2", v.where(), v.Mount)
	}
	v.found = found
	value, ok := found.Data[v.Field].(string)
	return ok && same(value, secret), nil
}

// write names the version it replaces, so that nothing which others have written
// since is lost.
func (v *visit) write(ctx context.Context, secret edge.Secret) error {
	field := map[string]any{v.Field: secret.Reveal()}
	var err error
	if v.found != nil && v.found.Data != nil {
		_, err = v.client.KVv2(v.Mount).Patch(ctx, v.path, field, api.WithCheckAndSet(v.found.VersionMetadata.Version))
		if mayNotPatch(err) {
			err = v.overwrite(ctx, field)
		}
	} else {
		err = v.overwrite(ctx, field)
	}
	switch {
	case err == nil:
		return nil
	case lostRace(err):
		return errConflict
	case errors.Is(err, api.ErrSecretNotFound):
		return fmt.Errorf("writing %s: the answer is not from an engine of type KV, version 2; check the engine at %s", v.where(), v.Mount)
	}
	return v.told(ctx, "writing "+v.where(), err, v.rights())
}

// overwrite writes a whole version: the fields that were there, and ours.
func (v *visit) overwrite(ctx context.Context, field map[string]any) error {
	version, data := 0, map[string]any{}
	if v.found != nil {
		version = v.found.VersionMetadata.Version
		maps.Copy(data, v.found.Data)
	}
	maps.Copy(data, field)
	_, err := v.client.KVv2(v.Mount).Put(ctx, v.path, data, api.WithCheckAndSet(version))
	return err
}

// mayNotPatch: a policy without patch, or a server older than it.
func mayNotPatch(err error) bool {
	status := statusOf(err)
	return status == http.StatusForbidden || status == http.StatusMethodNotAllowed || status == http.StatusUnsupportedMediaType
}

// lostRace: the version has changed since it was read. Vault says that only in
// words.
func lostRace(err error) bool {
	var answer *api.ResponseError
	return errors.As(err, &answer) && answer.StatusCode == http.StatusBadRequest &&
		strings.Contains(strings.Join(answer.Errors, " "), "check-and-set parameter did not match")
}

func statusOf(err error) int {
	var answer *api.ResponseError
	if !errors.As(err, &answer) {
		return 0
	}
	return answer.StatusCode
}

// told makes an error for a person. Vault repeats in its own what it likes, and
// the library puts that on several lines.
func (v *visit) told(ctx context.Context, doing string, err error, hint string) error {
	var answer *api.ResponseError
	var trouble *url.Error
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	case errors.As(err, &trouble):
		return fmt.Errorf("%s: %s%s", doing, redacted(trouble.Error()), authorityHint(err))
	case !errors.As(err, &answer): // the library's words may quote what else is kept there
		return fmt.Errorf("%s: the answer cannot be read; check that this is Vault and that %s is an engine of type KV, version 2", doing, v.Mount)
	case strings.Contains(strings.Join(answer.Errors, " "), "sealed"):
		hint = "unseal it; the next run tries again"
	case answer.StatusCode/100 == 5:
		hint = "the next run tries again"
	}
	said := redacted(strings.Join(answer.Errors, "; "))
	return fmt.Errorf("%s: Vault answered %d and said %q; %s", doing, answer.StatusCode, said, hint)
}

// authorityHint says what to do about a certificate that no known authority has issued.
func authorityHint(err error) string {
	if unknown := (x509.UnknownAuthorityError{}); errors.As(err, &unknown) {
		return "; set ca_file to the authority that has issued the certificate of Vault"
	}
	return ""
}
