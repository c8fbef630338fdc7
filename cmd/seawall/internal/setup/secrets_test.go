package setup

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

func TestRecentlyReadSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		value, fails, reads := "first", error(nil), 0
		token := recently(func() (edge.Secret, error) {
			reads++
			return edge.NewSecret(value), fails
		})
		for _, step := range []struct {
			does  string
			after time.Duration
			value string
			fails error
			want  string
			reads int
		}{
			{does: "reads at first", value: "first", want: "first", reads: 1},
			{does: "keeps for a moment", after: recentFor - 1, value: "second", want: "first", reads: 1},
			{does: "notices a rotation", after: 1, value: "second", want: "second", reads: 2},
			{does: "keeps no old value when reading fails", after: recentFor, fails: errors.New("gone"), reads: 3},
			{does: "keeps no failure", value: "third", want: "third", reads: 4},
		} {
			time.Sleep(step.after)
			value, fails = step.value, step.fails
			got, err := token()
			if reads != step.reads || !errors.Is(err, step.fails) || err == nil && got.Reveal() != step.want {
				t.Errorf("it %s: got %q, %v after %d reads; want %q, %v after %d", step.does, got.Reveal(), err, reads, step.want, step.fails, step.reads)
			}
		}
	})
}
