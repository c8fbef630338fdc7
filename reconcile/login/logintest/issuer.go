// Package logintest is an OpenID Connect provider for tests: real keys, real requests, and lies
// that it can be told to tell.
package logintest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// The client that an issuer knows.
const (
	ClientID = "seawall"
	Secret   = "s3cret & more"
)

// Issuer is an OpenID Connect provider: discovery, keys, the code flow with PKCE. It logs in
// whoever comes as the person that it is set to. Its members are changed with [Issuer.Set].
type Issuer struct {
	*httptest.Server
	Down   bool                        // it answers 502
	Again  bool                        // it takes a code again
	Secret string                      // of its client
	Claims map[string]any              // of the person
	Lie    func(claims map[string]any) // alters the ID token before it is signed
	Forge  func(signed string) string  // alters it afterwards

	t      testing.TB
	now    func() time.Time
	mu     sync.Mutex
	key    crypto.Signer
	kid    int
	codes  map[string]url.Values // what was asked with the code
	counts map[string]int        // requests by path
}

// New starts an issuer. Its person is ada@example.com, in the groups ops and staff.
func New(t testing.TB, now func() time.Time) *Issuer {
	i := &Issuer{
		t: t, now: now, codes: map[string]url.Values{}, counts: map[string]int{}, Secret: Secret,
		Claims: map[string]any{"sub": "1", "email": "ada@example.com", "email_verified": true, "groups": []string{"ops", "staff"}},
	}
	i.Rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.answer(w, map[string]any{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256", "ES256", "HS256", "none"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) { i.answer(w, map[string]any{"keys": []any{i.jwk()}}) })
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		i.counts[r.URL.Path]++
		down := i.Down
		i.mu.Unlock()
		if down {
			http.Error(w, "out of order", http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

// Rotate gives the issuer a new key: ECDSA and RSA by turns.
func (i *Issuer) Rotate() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.kid++
	if i.kid%2 == 1 {
		i.key = ok(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	} else {
		i.key = ok(rsa.GenerateKey(rand.Reader, 2048))
	}
}

// Set changes the issuer.
func (i *Issuer) Set(change func(*Issuer)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(i)
}

// Asked is how often a path was asked for.
func (i *Issuer) Asked(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.counts[path]
}

func (i *Issuer) answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value)
}

func (i *Issuer) jwk() map[string]any {
	i.mu.Lock()
	defer i.mu.Unlock()
	big64 := func(n *big.Int) string {
		return base64.RawURLEncoding.EncodeToString(n.FillBytes(make([]byte, (n.BitLen()+7)/8)))
	}
	switch key := i.key.(type) {
	case *rsa.PrivateKey:
		return map[string]any{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": fmt.Sprint(i.kid), "n": big64(key.N), "e": big64(big.NewInt(int64(key.E)))}
	case *ecdsa.PrivateKey:
		point := ok(key.PublicKey.Bytes())
		return map[string]any{"kty": "EC", "use": "sig", "alg": "ES256", "crv": "P-256", "kid": fmt.Sprint(i.kid), "x": base64.RawURLEncoding.EncodeToString(point[1:33]), "y": base64.RawURLEncoding.EncodeToString(point[33:])}
	}
	return nil
}

// authorize is where a browser comes to log in.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("response_type") != "code" || q.Get("client_id") != ClientID || q.Get("code_challenge_method") != "S256" || len(q.Get("nonce")) < 43 || len(q.Get("state")) < 43 {
		i.t.Errorf("the request for a login is %v", q)
	}
	code := rand.Text()
	i.Set(func(i *Issuer) { i.codes[code] = q })
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusSeeOther)
}

// token gives an ID token for a code, to the right client with the right verifier, once.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	refuse := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": "the code was " + r.PostFormValue("code")})
	}
	id, secret, given := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	secret, _ = url.QueryUnescape(secret)
	asked, issued := i.codes[r.PostFormValue("code")]
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case !given || id != ClientID || secret != i.Secret:
		refuse("invalid_client")
		return
	case !issued || r.PostFormValue("redirect_uri") != asked.Get("redirect_uri") || base64.RawURLEncoding.EncodeToString(challenge[:]) != asked.Get("code_challenge"):
		refuse("invalid_grant")
		return
	}
	if !i.Again {
		delete(i.codes, r.PostFormValue("code"))
	}
	claims := maps.Clone(i.Claims)
	maps.Copy(claims, map[string]any{"iss": i.URL, "aud": ClientID, "nonce": asked.Get("nonce"), "iat": i.now().Unix(), "exp": i.now().Add(5 * time.Minute).Unix()})
	if i.Lie != nil {
		i.Lie(claims)
	}
	signed := sign(i.key, fmt.Sprint(i.kid), claims)
	if i.Forge != nil {
		signed = i.Forge(signed)
	}
	i.answer(w, map[string]any{"access_token": "access", "token_type": "Bearer", "id_token": signed})
}

// sign is a JWT.
func sign(key crypto.Signer, kid string, claims map[string]any) string {
	algorithm := "RS256"
	if _, ok := key.(*ecdsa.PrivateKey); ok {
		algorithm = "ES256"
	}
	body := Part(map[string]any{"alg": algorithm, "kid": kid, "typ": "JWT"}) + "." + Part(claims)
	digest := sha256.Sum256([]byte(body))
	var signature []byte
	switch key := key.(type) {
	case *rsa.PrivateKey:
		signature = ok(rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:]))
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
		ok(r, err)
		signature = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	}
	return body + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// ok is a value without its error, of what cannot fail in a test.
func ok[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Part is one part of a JWT.
func Part(value any) string {
	return base64.RawURLEncoding.EncodeToString(ok(json.Marshal(value)))
}

// Resign signs the claims of a token with the key of another issuer.
func Resign(token string, by *Issuer) string {
	var claims map[string]any
	body := ok(base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1]))
	ok(0, json.Unmarshal(body, &claims))
	return sign(by.key, "1", claims)
}

// Altered names another person in a signed token.
func Altered(token string) string {
	parts := strings.Split(token, ".")
	body := string(ok(base64.RawURLEncoding.DecodeString(parts[1])))
	parts[1] = base64.RawURLEncoding.EncodeToString([]byte(strings.ReplaceAll(body, "ada@", "bob@")))
	return strings.Join(parts, ".")
}

// HMACSigned signs the claims of a token with a secret that the client has, too.
func HMACSigned(token, secret string) string {
	body := Part(map[string]any{"alg": "HS256"}) + "." + strings.Split(token, ".")[1]
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return body + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
