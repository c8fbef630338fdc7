package diff

import (
	"testing"
	"time"
)

func TestCost(t *testing.T) {
	small := Budget{10, time.Minute}
	for want, r := range map[string]Requests{
		"3 requests used": {Used: 3},
		"1 request used, 2 to apply: 20% of the budget of 10 in 1m, without a wait":        {1, 2, small.Cost(2), nil},
		"0 requests used, 10 to apply: 100% of the budget of 10 in 1m, without a wait":     {0, 10, small.Cost(10), nil},
		"0 requests used, 11 to apply: 110% of the budget of 10 in 1m, in no less than 1m": {0, 11, small.Cost(11), nil},
		"0 requests used, 25 to apply: 250% of the budget of 10 in 1m, in no less than 2m": {0, 25, small.Cost(25), nil},
		"9 requests used, 4 to apply: 0.3% of the budget of 1200 in 5m, without a wait":    {9, 4, Budget{1200, 5 * time.Minute}.Cost(4), nil},
		"9 requests used, 1 to apply: less than 0.1% of the budget of 1200 in 5m, without a wait": {
			9, 1, Budget{1200, 5 * time.Minute}.Cost(1), nil,
		},
		"0 requests used, 20000 to apply: 1667% of the budget of 1200 in 5m, in no less than 1h20m": {
			0, 20_000, Budget{1200, 5 * time.Minute}.Cost(20_000), nil,
		},
		"9 requests used, 7 to apply": {9, 7, Budget{}.Cost(7), nil},
	} {
		if got := r.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if cost := small.Cost(0); cost != nil {
		t.Errorf("nothing costs %v", cost)
	}
}
