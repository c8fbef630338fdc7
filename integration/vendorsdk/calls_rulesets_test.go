package vendorsdk

import (
	"errors"
	"fmt"

	"github.com/cloudflare/cloudflare-go/v6/rulesets"
)

// Ids that the calls below remember.
const (
	entry  = "entry"
	first  = "first"
	second = "second"
)

// holds is an error where something is not as it should be.
func holds(ok bool, what any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("got %+v", what)
}

func get(w *world) (*rulesets.RulesetGetResponse, error) {
	return w.sdk.Get(w.Context(), w.ids[entry], in(inBare, rulesets.RulesetGetParams{}))
}

// create makes an entry point in the zone without one, and remembers it and its rules.
func create(phase rulesets.Phase, rules ...string) func(w *world) error {
	return func(w *world) error {
		made, err := w.sdk.New(w.Context(), entryPoint(w, inBare, phase, rules...))
		if err != nil {
			return err
		}
		w.ids[entry] = made.ID
		for i, name := range []string{first, second}[:len(made.Rules)] {
			w.ids[name] = made.Rules[i].ID
		}
		return holds(made.Version == "1" && made.Kind == rulesets.KindZone, made)
	}
}

var rulesetCalls = []attempt{
	{"no entry point", func(w *world) error {
		_, err := w.sdk.Phases.Get(w.Context(), custom, in(inBare, rulesets.PhaseGetParams{}))
		return err
	}, 404, "10003"},
	{"a ruleset that there is not", func(w *world) error {
		_, err := w.sdk.Get(w.Context(), core[:31]+"f", in(inBare, rulesets.RulesetGetParams{}))
		return err
	}, 404, "10001"},
	{"a managed ruleset", func(w *world) error {
		got, err := w.sdk.Get(w.Context(), core, in(inBare, rulesets.RulesetGetParams{}))
		return errors.Join(err, holds(err == nil && got.Kind == rulesets.KindManaged && len(got.Rules) > 20, got))
	}, 0, ""},
	{"a kind that a zone has not", func(w *world) error {
		params := entryPoint(w, inBare, custom)
		set(&params.Kind, rulesets.KindRoot)
		_, err := w.sdk.New(w.Context(), params)
		return err
	}, 400, "/kind"},
	{"a phase that there is not", try(inBare, "http_request_cloud_connector"), 400, "unknown phase"},
	{"an entry point", create(custom, blocks(`,"ref":"a"`), blocks(`,"ref":"b"`)), 0, ""},
	{"a second one", create(custom), 400, "20217"},
	{"it is listed", func(w *world) error {
		found := 0
		pages := w.sdk.ListAutoPaging(w.Context(), in(inBare, rulesets.RulesetListParams{}))
		for pages.Next() {
			if pages.Current().ID == w.ids[entry] {
				found++
			}
		}
		return errors.Join(pages.Err(), holds(found == 1, found))
	}, 0, ""},
	{"a rule whose ref is there", func(w *world) error {
		_, err := w.sdk.Rules.New(w.Context(), w.ids[entry], in(inBare, rulesets.RuleNewParams{Body: rule[rulesets.RuleNewParamsBody](w, blocks(`,"ref":"a"`))}))
		return err
	}, 400, "/rules/2/ref"},
	{"a rule takes the ref of another", func(w *world) error {
		body := rule[rulesets.RuleEditParamsBody](w, blocks(`,"ref":"a"`))
		_, err := w.sdk.Rules.Edit(w.Context(), w.ids[entry], w.ids[second], in(inBare, rulesets.RuleEditParams{Body: body}))
		return err
	}, 400, "/rules/1/ref"},
	{"a description alone", func(w *world) error {
		var params rulesets.RulesetUpdateParams
		set(&params.Description, "described")
		got, err := w.sdk.Update(w.Context(), w.ids[entry], in(inBare, params))
		return errors.Join(err, holds(err == nil && len(got.Rules) == 2 && got.Rules[1].ID == w.ids[second] && got.Description == "described", got))
	}, 0, ""},
	{"all rules", func(w *world) error {
		var params rulesets.RulesetUpdateParams
		set(&params.Rules, []rulesets.RulesetUpdateParamsRuleUnion{rule[rulesets.RulesetUpdateParamsRule](w, blocks(`,"ref":"b"`))})
		got, err := w.sdk.Update(w.Context(), w.ids[entry], in(inBare, params))
		return errors.Join(err, holds(err == nil && len(got.Rules) == 1 && got.Rules[0].ID == w.ids[second], got)) // the ref keeps the id
	}, 0, ""},
	{"a version of the past", func(w *world) error {
		got, err := w.sdk.Versions.Get(w.Context(), w.ids[entry], "1", in(inBare, rulesets.VersionGetParams{}))
		return errors.Join(err, holds(err == nil && len(got.Rules) == 2, got))
	}, 0, ""},
	{"the latest version is not deleted", func(w *world) error {
		return w.sdk.Versions.Delete(w.Context(), w.ids[entry], "3", in(inBare, rulesets.VersionDeleteParams{}))
	}, 400, "latest"},
	{"the ruleset is deleted", func(w *world) error {
		return w.sdk.Delete(w.Context(), w.ids[entry], in(inBare, rulesets.RulesetDeleteParams{}))
	}, 0, ""},
	{"it is gone", func(w *world) error { _, err := get(w); return err }, 404, "10001"},
}

// move adds a rule that blocks at a place, and says where it stands then.
func place(position func(w *world) map[string]any, want int) func(w *world) error {
	return func(w *world) error {
		body := rule[rulesets.RuleNewParamsBody](w, blocks(`,"ref":"new"`))
		set(&body.Position, position(w))
		got, err := w.sdk.Rules.New(w.Context(), w.ids[entry], in(inBare, rulesets.RuleNewParams{Body: body}))
		if err != nil {
			return err
		}
		for i, r := range got.Rules {
			if r.Ref == "new" {
				_, err = w.sdk.Rules.Delete(w.Context(), w.ids[entry], r.ID, in(inBare, rulesets.RuleDeleteParams{}))
				return errors.Join(err, holds(i == want, i))
			}
		}
		return holds(false, got.Rules)
	}
}

// at is a position that is the same for all.
func at(position map[string]any) func(*world) map[string]any {
	return func(*world) map[string]any { return position }
}

var placeCalls = []attempt{
	{"an entry point", create(custom, blocks(`,"ref":"a"`), blocks(`,"ref":"b"`)), 0, ""},
	{"before a rule", place(func(w *world) map[string]any { return map[string]any{"before": w.ids[second]} }, 1), 0, ""},
	{"after a rule", place(func(w *world) map[string]any { return map[string]any{"after": w.ids[second]} }, 2), 0, ""},
	{"first", place(at(map[string]any{"before": ""}), 0), 0, ""},
	{"by number", place(at(map[string]any{"index": 2}), 1), 0, ""},
	{"number 0", place(at(map[string]any{"index": 0}), 0), 400, "/position"},
	{"a number too high", place(at(map[string]any{"index": 4}), 0), 400, "/position"},
	{"two places", place(at(map[string]any{"index": 1, "before": ""}), 0), 400, "/position"},
	{"before a rule that there is not", place(at(map[string]any{"before": core}), 0), 400, "/position"},
	{"a rule is moved", func(w *world) error {
		var body rulesets.RuleEditParamsBody
		set(&body.Position, map[string]any{"before": ""})
		got, err := w.sdk.Rules.Edit(w.Context(), w.ids[entry], w.ids[second], in(inBare, rulesets.RuleEditParams{Body: body}))
		return errors.Join(err, holds(err == nil && got.Rules[0].ID == w.ids[second] && got.Rules[0].Expression == "ssl", got))
	}, 0, ""},
}
