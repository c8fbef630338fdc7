package mem

import (
	"fmt"
	"net/http"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Rules of the calendar that change what this package answers (reference,
// "Deprecation schedule"). Their days come from the calendar of [Config].
const (
	RuleFlattening = "cname-flattening-setting"
	RuleFilters    = "dns-record-filter-syntax"
	RuleZoneFields = "dns-record-zone-fields"
	RuleErrorChain = "dns-record-error-chain"
	RuleLocked     = "dns-record-locked"
	RuleSRV        = "srv-data-name-fields"
)

// moment is an instant of the platform and what has changed by then.
type moment struct {
	at       time.Time
	calendar *deprecation.Calendar
	srvEnd   deprecation.Date // of the quirk; empty: none
}

// moment looks at the clock once; the caller holds the lock.
func (p *Platform) moment() moment {
	return moment{at: p.now(), calendar: &p.calendar, srvEnd: p.behaviour.srvEnd}
}

func (m moment) over(rule string) bool { return m.calendar.Over(rule, m.at) }

func (m moment) formOver(param string, form deprecation.Form) bool {
	return m.calendar.FormOver(RuleFilters, param, form, m.at)
}

// srvOver: the end of life of the SRV name fields has come. The reference gives
// it no day, so without a calendar that does, or the quirk, it never has.
func (m moment) srvOver() bool {
	if m.srvEnd != "" && deprecation.DateOf(m.at) >= m.srvEnd {
		return true
	}
	return m.calendar.Rule(RuleSRV) != nil && m.over(RuleSRV)
}

// notShown refuses what the reference does not show, rather than make it up.
func notShown(call, what string) error {
	return &edge.Error{Call: call, Status: http.StatusNotImplemented, Details: []edge.ErrorDetail{{
		Message: fmt.Sprintf("not implemented by this simulator: the reference does not show %s", what),
	}}}
}
