package page_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// full answers with every member that there is.
type full struct{ *pagetest.Data }

func (full) Status() inspect.Status                          { return filled[inspect.Status]() }
func (full) Fleet(inspect.FleetQuery) (inspect.Fleet, error) { return filled[inspect.Fleet](), nil }
func (full) Tokens(context.Context) (inspect.TokenList, error) {
	return filled[inspect.TokenList](), nil
}

func (full) PullRequests() inspect.PullRequestList { return filled[inspect.PullRequestList]() }

func (full) PullRequest(int) (inspect.PullRequest, error) { return filled[inspect.PullRequest](), nil }

func (full) Deprecations(context.Context) (inspect.DeprecationList, error) {
	return filled[inspect.DeprecationList](), nil
}

func (full) Zone(context.Context, edge.Scope) (inspect.ZonePage, error) {
	return filled[inspect.ZonePage](), nil
}

func (full) History(context.Context, page.HistoryQuery) (inspect.EntryList, error) {
	return filled[inspect.EntryList](), nil
}

func (full) Commits(context.Context, string, int) (inspect.CommitList, error) {
	return filled[inspect.CommitList](), nil
}

func (full) Radar(context.Context, inspect.RadarQuery) (inspect.RadarList, error) {
	return filled[inspect.RadarList](), nil
}

func (full) RadarVersion(context.Context, int64, inspect.RadarQuery) (inspect.RadarPage, error) {
	return filled[inspect.RadarPage](), nil
}

func filled[T any]() (value T) {
	fill(reflect.ValueOf(&value).Elem())
	return value
}

// fill gives a value, and all in it, something that is not zero.
func fill(v reflect.Value) {
	if known, ok := map[reflect.Type]any{
		reflect.TypeFor[time.Time](): pagetest.At, reflect.TypeFor[edge.Scope](): pagetest.Scope(1), reflect.TypeFor[deprecation.Date](): deprecation.Date("2026-10-21"), reflect.TypeFor[json.RawMessage](): json.RawMessage("1"),
		reflect.TypeFor[inspect.Outcome](): inspect.Refused, reflect.TypeFor[inspect.Mode](): inspect.ModeMixed, reflect.TypeFor[diff.Direction](): diff.Weakens,
		reflect.TypeFor[error](): edge.ErrForbidden, reflect.TypeFor[diff.BypassState](): diff.BypassNew,
	}[v.Type()]; ok {
		v.Set(reflect.ValueOf(known))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Interface:
		v.Set(reflect.ValueOf([]any{"x", 1}))
	case reflect.String:
		v.SetString("abcd")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Uint64:
		v.SetUint(1)
	default:
		v.SetInt(1)
	}
}

// TestEveryMemberIsDescribed holds answers with every member to the description.
func TestEveryMemberIsDescribed(t *testing.T) {
	api := pagetest.NewAPI(t, page.Handler(page.Config{Data: full{pagetest.New(1)}}))
	for _, path := range paths() {
		api.Get(t, path)
	}
}
