package diff

import (
	"testing"
	"time"
)

func TestCost(t *testing.T) {
	small := Budget{10, time.Minute}
	for want, r := range map[string]Requests{
		"3 requests used": {Used: 3},
		"1 request used, 2 to apply: 20% of the budget of 10 in 1m, without a wait":        {Used: 1, ToApply: 2, Cost: small.Cost(2)},
		"0 requests used, 10 to apply: 100% of the budget of 10 in 1m, without a wait":     {Used: 0, ToApply: 10, Cost: small.Cost(10)},
		"0 requests used, 11 to apply: 110% of the budget of 10 in 1m, in no less than 1m": {Used: 0, ToApply: 11, Cost: small.Cost(11)},
		"0 requests used, 25 to apply: 250% of the budget of 10 in 1m, in no less than 2m": {Used: 0, ToApply: 25, Cost: small.Cost(25)},
		"9 requests used, 4 to apply: 0.3% of the budget of 1200 in 5m, without a wait":    {Used: 9, ToApply: 4, Cost: Budget{1200, 5 * time.Minute}.Cost(4)},
		"9 requests used, 1 to apply: less than 0.1% of the budget of 1200 in 5m, without a wait": {
			Used: 9, ToApply: 1, Cost: Budget{1200, 5 * time.Minute}.Cost(1),
		},
		"0 requests used, 20000 to apply: 1667% of the budget of 1200 in 5m, in no less than 1h20m": {
			Used: 0, ToApply: 20_000, Cost: Budget{1200, 5 * time.Minute}.Cost(20_000),
		},
		"9 requests used (4 to look for skip rules in earlier phases), 7 to apply": {Used: 9, Looks: 4, ToApply: 7},
		"9 requests used, 7 to apply": {Used: 9, ToApply: 7, Cost: Budget{}.Cost(7)},
	} {
		if got := r.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if cost := small.Cost(0); cost != nil {
		t.Errorf("nothing costs %v", cost)
	}
}
