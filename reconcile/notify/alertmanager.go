package notify

import (
	"context"
	"time"
)

// Alertmanager posts alerts to the API, version 2, of Prometheus' Alertmanager. Alertmanager
// forgets an alert that is not sent again, so the service repeats those that are open; see
// [Refresher]. A digest and news are no alerts: they are left out.
type Alertmanager struct {
	poster
	URL    Secret // such as http://localhost:9093/api/v2/alerts
	Source string
	Now    func() time.Time
}

type alertmanagerAlert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      time.Time         `json:"endsAt"`
}

// Refresher is a [Sender] that needs to be told again what is open, each [RefreshEvery]: the
// beginnings, as they were sent.
type Refresher interface {
	Refresh(context.Context, []Message) error
}

const (
	// RefreshEvery is how often alerts are repeated.
	RefreshEvery = time.Minute
	// believed is for how long Alertmanager believes an alert that is not repeated.
	believed = 5 * RefreshEvery
)

// NewAlertmanager returns the sender of alerts. It believes the authorities in pem, or those
// of the system where it is nil.
func NewAlertmanager(url Secret, source string, now func() time.Time, pem []byte) (*Alertmanager, error) {
	p, err := newPoster(pem)
	return &Alertmanager{p, url, source, now}, err
}

// Send implements [Sender].
func (a *Alertmanager) Send(ctx context.Context, m Message) error {
	end := a.Now().Add(believed)
	switch m.State {
	case Digest, News:
		return nil
	case Ends:
		end = m.At
	case Test:
		end = a.Now().Add(RefreshEvery)
	default:
	}
	return a.post(ctx, a.URL, []alertmanagerAlert{a.alert(m, end)}, nil)
}

// Refresh implements [Refresher].
func (a *Alertmanager) Refresh(ctx context.Context, open []Message) error {
	alerts := make([]alertmanagerAlert, 0, len(open))
	for _, m := range open {
		alerts = append(alerts, a.alert(m, a.Now().Add(believed)))
	}
	return a.post(ctx, a.URL, alerts, nil)
}

func (a *Alertmanager) alert(m Message, end time.Time) alertmanagerAlert {
	return alertmanagerAlert{
		Labels: map[string]string{
			"alertname": "Seawall", "cause": m.Cause, "about": string(m.About), "severity": string(m.Severity), "instance": a.Source,
		},
		Annotations: map[string]string{"summary": m.Title, "description": m.Text},
		StartsAt:    m.Since, EndsAt: end,
	}
}
