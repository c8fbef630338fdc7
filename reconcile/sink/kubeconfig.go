package sink

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/client-go/transport"
)

// access finds the API server, anew for each delivery: the kubelet replaces the
// token of a service account every hour or so.
func (c cluster) access() (access, error) {
	if c.Kubeconfig == "" {
		return c.inside()
	}
	a, err := c.outside()
	if err != nil {
		return a, fmt.Errorf("kubeconfig %s: %w", c.Kubeconfig, err)
	}
	return a, nil
}

// inside is the way of a program in a pod.
func (c cluster) inside() (a access, err error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return a, errors.New("this is not a pod: KUBERNETES_SERVICE_HOST is not set; set kubeconfig in the sink")
	}
	a.server = "https://" + net.JoinHostPort(host, port)
	token, err := readFile(filepath.Join(c.account, "token"))
	if err != nil {
		return a, fmt.Errorf("%w; check that the pod mounts its service account", err)
	}
	a.how.BearerToken = strings.TrimSpace(string(token))
	a.how.TLS.CAData, err = readFile(filepath.Join(c.account, "ca.crt"))
	return a, err
}

// kubeconfig is what counts of a file for kubectl. Its own library would make
// each start of the program a fifth slower, and each worker is one.
type kubeconfig struct {
	CurrentContext string               `yaml:"current-context"`
	Contexts       []named[kubeContext] `yaml:"contexts"`
	Clusters       []named[kubeCluster] `yaml:"clusters"`
	Users          []named[kubeUser]    `yaml:"users"`
}

// named is an entry of a list in a kubeconfig: of the three, one is filled in.
type named[T any] struct {
	Name    string
	Context T `yaml:"context"`
	Cluster T `yaml:"cluster"`
	User    T `yaml:"user"`
}

type kubeContext struct{ Cluster, User string }

type kubeCluster struct {
	Server   string
	CA       string `yaml:"certificate-authority"`
	CAData   string `yaml:"certificate-authority-data"`
	Name     string `yaml:"tls-server-name"`
	Proxy    string `yaml:"proxy-url"`
	Insecure bool   `yaml:"insecure-skip-tls-verify"`
}

type kubeUser struct {
	Token     string
	TokenFile string `yaml:"tokenFile"`
	Cert      string `yaml:"client-certificate"`
	CertData  string `yaml:"client-certificate-data"`
	Key       string `yaml:"client-key"`
	KeyData   string `yaml:"client-key-data"`
	Username  string
	Password  string
	Exec      any
	Provider  any `yaml:"auth-provider"`
	As        string
}

func (c cluster) outside() (a access, err error) {
	text, err := readFile(c.Kubeconfig)
	if err != nil {
		return a, err
	}
	var k kubeconfig
	if err := yaml.Unmarshal(text, &k); err != nil {
		return a, errors.New("it is not YAML in the form of a kubeconfig") // the error would quote it
	}
	context, err := pick("context", k.Contexts, cmp.Or(c.Context, k.CurrentContext))
	if err != nil {
		return a, err
	}
	server, err := pick("cluster", k.Clusters, context.Context.Cluster)
	if err != nil {
		return a, err
	}
	user, err := pick("user", k.Users, context.Context.User)
	if err != nil {
		return a, err
	}
	read := beside(filepath.Dir(c.Kubeconfig))
	return a, errors.Join(server.Cluster.fill(&a, read), user.User.fill(&a.how, read))
}

func pick[T any](what string, all []named[T], name string) (named[T], error) {
	for _, one := range all {
		if one.Name == name {
			return one, nil
		}
	}
	return named[T]{}, fmt.Errorf("it has no %s %q", what, name)
}

// material reads what stands in a kubeconfig itself, in Base64, or in a file that
// it names.
type material func(data, file string) ([]byte, error)

func beside(dir string) material {
	return func(data, file string) ([]byte, error) {
		switch {
		case data != "":
			plain, err := base64.StdEncoding.DecodeString(data)
			if err != nil {
				return nil, errors.New("some …-data in it is not Base64")
			}
			return plain, nil
		case file == "":
			return nil, nil
		case !filepath.IsAbs(file):
			file = filepath.Join(dir, file)
		}
		return readFile(file)
	}
}

func (k kubeCluster) fill(a *access, read material) (err error) {
	a.server, a.how.TLS.ServerName = k.Server, k.Name
	if k.Insecure {
		return errors.New("insecure-skip-tls-verify would expose the secret to a man in the middle; set certificate-authority instead")
	}
	if k.Proxy != "" {
		proxy, err := url.Parse(k.Proxy)
		if err != nil {
			return errors.New("proxy-url is not a URL") // the error would repeat a password in it
		}
		a.how.Proxy = http.ProxyURL(proxy)
	}
	a.how.TLS.CAData, err = read(k.CAData, k.CA)
	return err
}

func (k kubeUser) fill(how *transport.Config, read material) (err error) {
	if k.Exec != nil || k.Provider != nil || k.As != "" {
		return errors.New("its user needs exec, auth-provider or as, which Seawall does not support; use the token or certificate of a service account")
	}
	token, err := read("", k.TokenFile)
	if err != nil {
		return err
	}
	how.BearerToken = cmp.Or(strings.TrimSpace(string(token)), k.Token)
	how.Username, how.Password = k.Username, k.Password
	if how.TLS.CertData, err = read(k.CertData, k.Cert); err != nil {
		return err
	}
	if how.TLS.KeyData, err = read(k.KeyData, k.Key); err != nil {
		return err
	}
	if (how.TLS.CertData == nil) != (how.TLS.KeyData == nil) {
		return errors.New("client-certificate needs client-key, and the other way round")
	}
	return nil
}
