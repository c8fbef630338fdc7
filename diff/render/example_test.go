package render_test

import (
	"os"

	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/diff/render"
)

func ExampleText() {
	plan := planner.Make(difftest.One(difftest.Deployment(difftest.DisableTag("sqli")), difftest.Execute(nil)))
	if err := render.Text(os.Stdout, plan, false); err != nil {
		panic(err)
	}
	// Output:
	// ~ prod / shop.example (000000000000000000000000000000a1) / core  weakens  zones/shop.cue:4:2
	//     tag sqli enabled  unset → false  weakens  zones/shop.cue:10:2
	//
	// commit c0ffee, 1 zone: 1 to change, 1 of them weakening
	// 0 requests used, 2 to apply
}
