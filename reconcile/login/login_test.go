package login_test

import (
	"testing"

	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/login"
)

// TestMay: a right by labels needs them in the commit in force and where the zone was proved.
func TestMay(t *testing.T) {
	type labels = map[string]string
	gold := labels{"tier": "gold", "team": "shop"}
	for name, test := range map[string]struct {
		grants           []login.Grant
		declared, proved labels
		view, operate    bool
		viewAll, operAll bool
	}{
		"no grant":          {nil, gold, gold, false, false, false, false},
		"viewer":            {[]login.Grant{{Role: login.Viewer}}, nil, nil, true, false, true, false},
		"operator":          {[]login.Grant{{Role: login.Operator}}, nil, nil, true, true, true, true},
		"an unknown role":   {[]login.Grant{{Role: "admin"}}, gold, gold, false, false, false, false},
		"by labels":         {[]login.Grant{{Role: login.Operator, Labels: labels{"tier": "gold"}}}, gold, gold, true, true, false, false},
		"declared only":     {[]login.Grant{{Role: login.Operator, Labels: labels{"tier": "gold"}}}, gold, nil, false, false, false, false},
		"proved only":       {[]login.Grant{{Role: login.Operator, Labels: labels{"tier": "gold"}}}, nil, gold, false, false, false, false},
		"another value":     {[]login.Grant{{Role: login.Viewer, Labels: labels{"tier": "bronze"}}}, gold, gold, false, false, false, false},
		"not all of them":   {[]login.Grant{{Role: login.Viewer, Labels: labels{"tier": "gold", "team": "blog"}}}, gold, gold, false, false, false, false},
		"an empty value":    {[]login.Grant{{Role: login.Viewer, Labels: labels{"other": ""}}}, gold, gold, false, false, false, false},
		"one of two grants": {[]login.Grant{{Role: login.Viewer}, {Role: login.Operator, Labels: labels{"team": "shop"}}}, gold, gold, true, true, true, false},
	} {
		p, zone := login.Person{Grants: test.grants}, inspect.ZoneLabels{Declared: test.declared, Proved: test.proved}
		if got := [4]bool{p.May(login.Viewer, zone), p.May(login.Operator, zone), p.MayAll(login.Viewer), p.MayAll(login.Operator)}; got != [4]bool{test.view, test.operate, test.viewAll, test.operAll} {
			t.Errorf("%s: %v", name, got)
		}
	}
}
