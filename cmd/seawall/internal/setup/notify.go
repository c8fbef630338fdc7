package setup

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/notify"
)

// mostCAFile bounds a file of authorities, in bytes.
const mostCAFile = 4 << 20

// NotifyRoutes makes the notification routes of a configuration, sorted by name. Their
// addresses and keys are read for each message.
func NotifyRoutes(c schema.Notify, zone *time.Location) (routes []notify.Route, err error) {
	for _, name := range slices.Sorted(maps.Keys(c.Routes)) {
		r, err := notifyRoute(name, c.Routes[name], zone)
		if err != nil {
			return nil, fmt.Errorf("notify.routes.%s: %w", name, err)
		}
		routes = append(routes, r)
	}
	return routes, nil
}

func notifyRoute(name string, c schema.Route, zone *time.Location) (r notify.Route, err error) {
	r = notify.Route{Name: name, Least: notify.Severity(c.Severity), Labels: c.Labels}
	if r.Template, err = notify.ParseTemplate(c.Title, c.Text); err != nil {
		return r, cli.Fail(err, "title and text are templates of Go's text/template; docs/notifications.md has the fields")
	}
	if c.Digest != "" {
		if r.Digest, err = reconcile.ParseSchedule(c.Digest, zone); err != nil {
			return r, cli.Fail(fmt.Errorf("digest: %w", err), `for example "0 8 * * 1-5"`)
		}
	}
	r.Sender, err = sender(c.To)
	return r, err
}

func sender(to schema.Recipient) (notify.Sender, error) {
	switch {
	case to.Slack != nil:
		return withAuthorities(to.Slack.CAFile, func(pem []byte) (notify.Sender, error) { return notify.NewSlack(addressOf(to.Slack.URL), pem) })
	case to.Webhook != nil:
		return withAuthorities(to.Webhook.CAFile, func(pem []byte) (notify.Sender, error) {
			return notify.NewWebhook(addressOf(to.Webhook.URL), secretOf(to.Webhook.Secret), time.Now, pem)
		})
	case to.Alertmanager != nil:
		return withAuthorities(to.Alertmanager.CAFile, func(pem []byte) (notify.Sender, error) {
			return notify.NewAlertmanager(addressOf(to.Alertmanager.URL), host(), time.Now, pem)
		})
	case to.PagerDuty != nil:
		address := func() (edge.Secret, error) { return edge.NewAddress(to.PagerDuty.URL), nil }
		return notify.NewPagerDuty(address, secretOf(to.PagerDuty.Key), host())
	case to.SMTP != nil:
		return withAuthorities(to.SMTP.CAFile, func(pem []byte) (notify.Sender, error) { return mailSender(*to.SMTP, pem), nil })
	default:
		return nil, fmt.Errorf("it has no recipient that this version knows")
	}
}

func mailSender(c schema.SMTP, pem []byte) *notify.SMTP {
	s := &notify.SMTP{Host: c.Host, Port: c.Port, TLS: c.TLS, From: c.From, To: c.To, Username: c.Username, PEM: pem}
	if c.Password != nil {
		s.Password = secretOf(*c.Password)
	}
	return s
}

// NotifyHeartbeat makes the heartbeat of a configuration; nil where there is none.
func NotifyHeartbeat(c schema.Notify, ready func() bool) (*notify.Heartbeat, error) {
	if c.Heartbeat == nil {
		return nil, nil
	}
	return notify.NewHeartbeat(addressOf(c.Heartbeat.URL), c.Heartbeat.Every, ready)
}

func withAuthorities(file string, build func(pem []byte) (notify.Sender, error)) (notify.Sender, error) {
	if file == "" {
		return build(nil)
	}
	pem, err := ReadAuthorities(file)
	if err != nil {
		return nil, fmt.Errorf("reading ca_file: %w", err)
	}
	sender, err := build(pem)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return sender, nil
}

// ReadAuthorities reads a file of authorities, in PEM.
func ReadAuthorities(file string) ([]byte, error) { return trusted.ReadSmall(file, mostCAFile) }

func secretOf(ref schema.SecretRef) notify.Secret {
	return func() (edge.Secret, error) { return ReadSecret(ref) }
}

func addressOf(ref schema.SecretRef) notify.Secret {
	return func() (edge.Secret, error) { return ReadAddress(ref) }
}

// host is the name of this host, by which messages say where they are from.
func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "seawall"
	}
	return name
}
