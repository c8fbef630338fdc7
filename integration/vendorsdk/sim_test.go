package vendorsdk

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/cloudflare/cloudflare-go/v6/option"
	"github.com/cloudflare/cloudflare-go/v6/rulesets"
)

// Ids of the simulator's own seed; see edge/mem.
const (
	production   = "0123456789abcdef0123456789abcdef"
	staging      = "0123456789abcdef0123456789abcd02"
	shop         = "00000000000000000000000000000a01"
	bare         = "00000000000000000000000000000a03"
	core         = "c04e0000000000000000000000000001"
	credentials  = "c04e0000000000000000000000000002"
	wafWrite     = "9a0e0000000000000000000000000001"
	accountReads = "9a0f0000000000000000000000000003"
)

// simulator is `seawall sim --profile vendor`, and the values of its tokens by
// name.
type simulator struct {
	base   string
	tokens map[string]string
}

// start runs the binary that SEAWALL names, as `make real` does.
func start(t *testing.T) simulator {
	t.Helper()
	binary := os.Getenv("SEAWALL")
	if binary == "" {
		t.Skip("set SEAWALL to the binary, or run make real")
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, binary, "sim", "--profile", "vendor", "--no-rate-limit")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var greeting struct {
		BaseURL string `json:"base_url"`
	}
	if err = errors.Join(err, json.Unmarshal(line, &greeting)); err != nil {
		t.Fatalf("the first line of the simulator is %q: %v", line, err)
	}
	s := simulator{base: greeting.BaseURL + "/", tokens: map[string]string{}}
	res, err := http.Get(strings.TrimSuffix(greeting.BaseURL, "/client/v4") + "/__sim/tokens")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var tokens []struct{ Name, Value string }
	if err := json.NewDecoder(res.Body).Decode(&tokens); err != nil {
		t.Fatal(err)
	}
	for _, token := range tokens {
		s.tokens[token.Name] = token.Value
	}
	return s
}

// as are the options of the SDK for one credential.
func (s simulator) as(name string) []option.RequestOption { return s.with(s.tokens[name]) }

func (s simulator) with(token string) []option.RequestOption {
	return []option.RequestOption{option.WithBaseURL(s.base), option.WithAPIToken(token), option.WithMaxRetries(0)}
}

// set gives a field of the SDK's parameters a value. The SDK's root package has F
// for this; to import it compiles the vendor's whole API.
func set(field, value any) {
	f := reflect.ValueOf(field).Elem()
	f.FieldByName("Value").Set(reflect.ValueOf(value))
	f.FieldByName("Present").SetBool(true)
}

// owner is a zone or an account.
type owner struct{ zone, account string }

// in makes parameters about an owner.
func in[T any](o owner, params T) T {
	p := reflect.ValueOf(&params).Elem()
	if o.zone != "" {
		set(p.FieldByName("ZoneID").Addr().Interface(), o.zone)
	} else {
		set(p.FieldByName("AccountID").Addr().Interface(), o.account)
	}
	return params
}

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// refused holds an error of the SDK to a status and a text.
func refused(t *testing.T, err error, status int, text string) {
	t.Helper()
	if !is(err, status, text) {
		t.Errorf("got %v, want %d with %q", err, status, text)
	}
}

func is(err error, status int, text string) bool {
	var e *rulesets.Error
	return errors.As(err, &e) && e.StatusCode == status && strings.Contains(e.JSON.RawJSON()+err.Error(), text)
}
