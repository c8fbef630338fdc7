package sink

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// Kubernetes keeps each secret as one entry of a Secret in one namespace. The key
// is NAME/ENTRY, or NAME alone for the entry "token". A Secret that is missing is
// made, of type Opaque and with the label app.kubernetes.io/managed-by=seawall; one
// without that label is left alone, and so are the other entries of one with it.
// The credential needs get, create and patch on Secrets of the namespace.
type Kubernetes struct {
	Namespace  string
	Kubeconfig string // absolute; "" for the service account of the pod. Read for each delivery
	Context    string // in Kubeconfig; "" for the current one
	Timeout    time.Duration
}

// cluster is the sink of kind kubernetes.
type cluster struct {
	Kubernetes
	account string // folder of the pod's service account
}

// serviceAccount is where every pod finds who it is.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

func newCluster(c Kubernetes) (place, error) {
	var err error
	if c.Timeout, err = soundTimeout(c.Timeout); err != nil {
		return nil, err
	}
	switch {
	case len(c.Namespace) > maxLabel || !dnsLabel().MatchString(c.Namespace):
		return nil, fmt.Errorf("the namespace %q must be 1 to %d lower-case letters, digits or -", c.Namespace, maxLabel)
	case c.Kubeconfig == "" && c.Context != "":
		return nil, errors.New("a context needs a kubeconfig")
	case c.Kubeconfig != "" && !filepath.IsAbs(c.Kubeconfig):
		return nil, fmt.Errorf("the kubeconfig %q must be an absolute path", c.Kubeconfig)
	}
	return server{cluster{c, serviceAccount}, c.Timeout}, nil
}

// The rules of Kubernetes for names; its own module for them would be linked in
// for these three lines.
var (
	dnsLabel     = lazyregexp.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	dnsSubdomain = lazyregexp.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	dataKey      = lazyregexp.New(`^[-._a-zA-Z0-9]+$`)
)

const (
	maxLabel = 63  // characters of a namespace
	maxName  = 253 // characters of the name of a Secret, and of an entry

	usualEntry = "token"
)

func (c cluster) check(key string) error {
	_, _, err := secretKey(key)
	return err
}

// secretKey splits a key. No two keys lead to one place.
func secretKey(key string) (name, entry string, err error) {
	name, entry, named := strings.Cut(key, "/")
	switch {
	case !named:
		entry = usualEntry
	case entry == usualEntry:
		return "", "", fmt.Errorf("write %s alone: %s is the entry where none is named", name, usualEntry)
	case strings.Contains(entry, "/"):
		return "", "", errors.New("a key is NAME or NAME/ENTRY: a Secret has no folders")
	}
	if len(name) > maxName || !dnsSubdomain().MatchString(name) {
		return "", "", fmt.Errorf("a Secret's name is 1 to %d lower-case letters, digits, - and . with a letter or digit at both ends of each part", maxName)
	}
	if len(entry) > maxName || strings.HasPrefix(entry, "..") || !dataKey().MatchString(entry) {
		return "", "", fmt.Errorf("an entry of a Secret is 1 to %d letters, digits, -, _ and . and does not begin with two dots", maxName)
	}
	return name, entry, nil
}

func (c cluster) reach(_ context.Context, key string) (exchange, func(), error) {
	name, entry, err := secretKey(key)
	if err != nil {
		return nil, nil, err
	}
	access, err := c.access()
	if err != nil {
		return nil, nil, err
	}
	caller, err := newCaller(access)
	if err != nil {
		return nil, nil, err
	}
	return &secretEntry{caller: caller, namespace: c.Namespace, name: name, entry: entry}, func() {}, nil
}
