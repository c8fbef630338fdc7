package edge

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
)

func TestSecretIsNeverPrinted(t *testing.T) {
	const value = "hunter2-hunter2"
	secret := NewSecret(value)
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", secret, "in", struct{ S Secret }{secret})
	data, err := json.Marshal(map[string]any{"s": secret, "p": &secret})
	must.Do(t, err)
	said := []string{
		log.String(), string(data), fmt.Sprint(secret), fmt.Sprintf("%v %+v %#v %s %q %x %d", secret, secret, secret, secret, secret, secret, secret),
		fmt.Sprintf("%+v", struct{ S *Secret }{&secret}), fmt.Errorf("with %v", secret).Error(),
	}
	for _, s := range said {
		if strings.Contains(s, value) || strings.Contains(s, fmt.Sprintf("%x", value)) {
			t.Errorf("printed: %s", s)
		}
	}
	if secret.Reveal() != value || secret.IsZero() || !secret.Equal(NewSecret(value)) || secret.Equal(NewSecret("other")) {
		t.Error("the value is not there")
	}
}

func TestErrorsAnswerForTheirOutcome(t *testing.T) {
	all := []error{
		ErrUnauthenticated, ErrForbidden, ErrNotFound, ErrEntryPointNotFound, ErrInvalid, ErrNotOffered, ErrThrottled, ErrUnavailable,
	}
	for _, c := range []struct {
		status, code int
		want         []error
	}{
		{401, 0, []error{ErrUnauthenticated}},
		{401, 1000, []error{ErrUnauthenticated}},
		{401, 10000, []error{ErrUnauthenticated}},
		{403, 10000, []error{ErrForbidden}},
		{403, 1000, []error{ErrForbidden}},
		{403, 9109, []error{ErrForbidden}},
		{400, 10000, []error{ErrInvalid}},
		{400, 6111, []error{ErrUnauthenticated}},
		{403, 0, []error{ErrForbidden}},
		{404, 10003, []error{ErrNotFound, ErrEntryPointNotFound}},
		{404, 10001, []error{ErrNotFound}},
		{404, 7003, []error{ErrNotOffered}},
		{405, 0, []error{ErrNotOffered}},
		{400, 10003, []error{ErrInvalid}},
		{400, 20125, []error{ErrInvalid}},
		{429, 971, []error{ErrThrottled}},
		{500, 0, []error{ErrUnavailable}},
		{503, 10003, []error{ErrUnavailable}},
		{200, 10003, nil},
	} {
		err := &Error{Call: "GET /x", Status: c.status}
		if c.code != 0 {
			// Older answers wrap the cause in a chain.
			err.Details = []ErrorDetail{{Message: "outer", Chain: []ErrorDetail{{Code: c.code, Message: "inner"}}}}
		}
		for _, sentinel := range all {
			want := false
			for _, w := range c.want {
				want = want || w == sentinel
			}
			if got := errors.Is(fmt.Errorf("wrapped: %w", err), sentinel); got != want {
				t.Errorf("%d with code %d is %q: %v, want %v", c.status, c.code, sentinel, got, want)
			}
		}
	}
}

func TestIDsAndLevels(t *testing.T) {
	for id, want := range map[string]bool{
		"0123456789abcdef0123456789abcdef": true, "0123456789ABCDEF0123456789abcdef": false,
		"": false, "0123456789abcdef0123456789abcde": false, "0123456789abcdef0123456789abcdeg": false,
	} {
		if ValidID(id) != want {
			t.Errorf("%q valid: %v", id, !want)
		}
	}
	if level, ok := ParanoiaLevel("paranoia-level-3"); !ok || level != 3 {
		t.Error("paranoia-level-3")
	}
	if _, ok := ParanoiaLevel("paranoia-level-5"); ok {
		t.Error("paranoia-level-5 is no level")
	}
}
