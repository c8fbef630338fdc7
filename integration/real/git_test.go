package real_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/gitrepo/gittest"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// found is what a plan of the fetched repository says.
const found = "1 zone: 1 to change"

// gateway is nginx before git http-backend, in each way that a server may be set up.
const gateway = `daemon off;
%[1]s
worker_processes 1;
pid %[2]s/nginx.pid;
error_log stderr warn;
events {}
http {
	log_format seen '$server_port "$request_uri" "$http_authorization"';
	access_log %[2]s/access.log seen;
	client_body_temp_path %[2]s/body;
	proxy_temp_path %[2]s/proxy;
	fastcgi_temp_path %[2]s/fastcgi;
	uwsgi_temp_path %[2]s/uwsgi;
	scgi_temp_path %[2]s/scgi;
	map $http_authorization $bearer { default 0; "Bearer t0ken-lock" 1; }
	server {
		listen %[3]s ssl;
		ssl_certificate %[5]s;
		ssl_certificate_key %[6]s;
		location ~ ^/public(/.*)$ { include %[2]s/git; }
		location ~ ^/private(/.*)$ { auth_basic "git"; auth_basic_user_file %[2]s/users; include %[2]s/git; }
		location ~ ^/bearer(/.*)$ { if ($bearer = 0) { return 401; } include %[2]s/git; }
		location ~ ^/moved(/.*)$ { return 301 /private$1$is_args$args; }
		location ~ ^/elsewhere(/.*)$ { return 302 https://localhost:%[4]s/private$1$is_args$args; }
		location ~ ^/plain(/.*)$ { return 302 http://%[3]s/public$1$is_args$args; }
		location ~ ^/around(/.*)$ { return 302 /around$1$is_args$args; }
		location ~ ^/login(/.*)$ { return 302 /sign-in; }
		location = /sign-in { default_type text/html; return 200 "<!DOCTYPE html><html><head><title>Sign in</title></head></html>"; }
		location ~ ^/down(/.*)$ { return 503; }
		location ~ ^/forbidden(/.*)$ { return 403; }
	}
	server {
		listen 127.0.0.1:%[4]s ssl;
		ssl_certificate %[7]s;
		ssl_certificate_key %[8]s;
		location ~ ^/private(/.*)$ { auth_basic "git"; auth_basic_user_file %[2]s/users; include %[2]s/git; }
	}
	server {
		listen %[9]s ssl;
		ssl_certificate %[10]s;
		ssl_certificate_key %[11]s;
		location ~ ^/public(/.*)$ { include %[2]s/git; }
	}
}
`

// gates are the servers of nginx, as URLs.
type gates struct {
	good    string // its certificate is for 127.0.0.1 and localhost
	named   string // its certificate is for localhost alone
	expired string
	dir     string // where access.log is
}

// startGateway serves the repository.
func startGateway(t *testing.T, repo *gittest.Repository, ca *authority) gates {
	t.Helper()
	dir := t.TempDir()
	address, expired, named := freeAddress(t), freeAddress(t), freeAddress(t)
	_, other, err := net.SplitHostPort(named)
	must.Do(t, err)
	socket := filepath.Join(dir, "cgi")
	writeFile(t, filepath.Join(dir, "users"), "ada:{PLAIN}s3cret-lock\nx-access-token:{PLAIN}t0ken-lock\n")
	params := fmt.Sprintf("fastcgi_pass unix:%s;\nfastcgi_param SCRIPT_FILENAME %s;\nfastcgi_param PATH_INFO $1;\n",
		socket, filepath.Join(repo.Git("--exec-path"), "git-http-backend"))
	for _, param := range []string{
		"GIT_PROJECT_ROOT " + filepath.Dir(repo.Dir), "GIT_HTTP_EXPORT_ALL 1", "QUERY_STRING $query_string", "REQUEST_METHOD $request_method",
		"CONTENT_TYPE $content_type", "CONTENT_LENGTH $content_length", "REMOTE_USER $remote_user", "HTTP_CONTENT_ENCODING $http_content_encoding",
	} {
		params += "fastcgi_param " + param + ";\n"
	}
	writeFile(t, filepath.Join(dir, "git"), params)
	start(t, exec.Command("fcgiwrap", "-c", "2", "-s", "unix:"+socket)).listens("unix", socket)

	as := "" // as harness.Root, the workers would be of another user, who may not read the repository
	if os.Geteuid() == 0 {
		as = "user root;"
	}
	good, goodKey := ca.issue(time.Now().Add(time.Hour), "127.0.0.1", "localhost")
	otherGood, otherKey := ca.issue(time.Now().Add(time.Hour), "localhost")
	bad, badKey := ca.issue(time.Now().Add(-time.Hour), "127.0.0.1")
	config := writeFile(t, filepath.Join(dir, "nginx.conf"), fmt.Sprintf(gateway, as, dir, address, other, good, goodKey, otherGood, otherKey, expired, bad, badKey))
	server := start(t, exec.Command("nginx", "-p", dir, "-c", config))
	server.listens("tcp", address)
	server.listens("tcp", expired)
	return gates{"https://" + address, "https://" + named, "https://" + expired, dir}
}

// TestGitOverHTTPS meets nginx and git http-backend, with an authority of their own.
func TestGitOverHTTPS(t *testing.T) {
	only(t)
	needs(t, "nginx-light fcgiwrap git", "nginx", "fcgiwrap", "git")
	repo, ca, stranger := gittest.New(t), newAuthority(t), newAuthority(t)
	repo.Commit("edge.cue", fmt.Sprintf(wanted, 3))
	server := startGateway(t, repo, ca)
	address := server.good
	p := newPlanner(t)
	basic := func(password string) string {
		return fmt.Sprintf(`auth: basic: {username: "ada", password: env: %q}`, password)
	}
	trusted := fmt.Sprintf("ca_file: %q, ", ca.file)
	tests := []struct {
		name, url, source string
		code              int
		says              []string
	}{
		{"anybody", address + "/public", trusted, 0, []string{found}},
		{"password", address + "/private", trusted + basic("PASSWORD"), 0, []string{found}},
		{"token", address + "/private", trusted + `auth: token: env: "TOKEN"`, 0, []string{found}},
		{"bearer", address + "/bearer", trusted + `auth: bearer: env: "TOKEN"`, 0, []string{found}},
		{"moved", address + "/moved", trusted + basic("PASSWORD"), 0, []string{found}},
		{"no password", address + "/private", trusted, 1, []string{"authentication required", `"401 Authorization Required"`, "hint: check source.auth: the credential must be set"}},
		{"wrong password", address + "/private", trusted + basic("WRONG"), 1, []string{"authentication required", "hint: check source.auth: the credential must be set"}},
		{"a password for a bearer", address + "/bearer", trusted + basic("PASSWORD"), 1, []string{"authentication required"}},
		{"another host", address + "/elsewhere", trusted + basic("PASSWORD"), 1, []string{"it redirects to https://localhost:", "hint: if the repository has moved, set source.url"}},
		{"not encrypted", address + "/plain", trusted + basic("PASSWORD"), 1, []string{"it redirects to http://127.0.0.1:", "changes scheme", "hint: if the repository"}},
		{"around", address + "/around", trusted, 1, []string{"too many redirects", "hint: if the repository"}},
		{"login", address + "/login", trusted, 1, []string{`the web page "Sign in"`, "hint: check the URL"}},
		{"down", address + "/down", trusted, 1, []string{"503", "hint: "}},
		{"forbidden", address + "/forbidden", trusted + basic("PASSWORD"), 1, []string{"hint: the credential was understood but may not read this repository"}},
		{"missing", address + "/public/missing", trusted, 1, []string{"hint: check the path"}},
		{"authority of the system", address + "/public", "", 1, []string{"certificate signed by unknown authority", "hint: set source.ca_file"}},
		{"another authority", address + "/public", fmt.Sprintf("ca_file: %q, ", stranger.file), 1, []string{"certificate signed by unknown authority", "hint: "}},
		{"another name", server.named + "/private", trusted, 1, []string{"its certificate is not accepted", "hint: use a name"}},
		{"expired", server.expired + "/public", trusted, 1, []string{"its certificate is not accepted", "expired", "hint: the certificate of the server must be renewed"}},
		{"not TLS", strings.Replace(address, "https:", "http:", 1) + "/public", "", 1, []string{"status 400", "hint: check the URL"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, out := p.plan(t, fmt.Sprintf("url: %q, %s", test.url+"/edge.git", test.source),
				"PASSWORD=s3cret-lock", "WRONG=s3cret-guess", "TOKEN=t0ken-lock")
			check(t, code, out, test.code, test.says...)
		})
	}
	log := harness.ReadText(t, filepath.Join(server.dir, "access.log"))
	port := address[strings.LastIndex(address, ":")+1:]
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, port) && strings.Contains(line, "Basic") {
			t.Errorf("a redirect took the password to another server: %s", line)
		}
	}
}

// check looks for an exit code and for texts, and that no secret is in what was printed.
func check(t testing.TB, code int, out string, want int, says ...string) {
	t.Helper()
	if code != want {
		t.Errorf("the exit code is %d, want %d", code, want)
	}
	for _, text := range says {
		if !strings.Contains(out, text) {
			t.Errorf("nothing says %q", text)
		}
	}
	for _, secret := range []string{"s3cret", "t0ken", "PRIVATE KEY"} {
		if strings.Contains(out, secret) {
			t.Errorf("the output contains %q", secret)
		}
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("exit code %d\n%s", code, out)
	}
}

const daemonSSH = `ListenAddress %[1]s
HostKey %[2]s/host_ed25519
HostKey %[2]s/host_ecdsa
HostKey %[2]s/host_rsa
PidFile %[2]s/sshd.pid
AuthorizedKeysFile %[2]s/authorized_keys
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
SetEnv HOME=%[2]s
MaxStartups 100
LogLevel VERBOSE
`

// startSSH is OpenSSH with a host key of each kind, which takes the keys of authorized_keys
// in the folder.
func startSSH(t *testing.T, dir string) (address string) {
	t.Helper()
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		run(t, exec.Command("ssh-keygen", "-q", "-t", kind, "-N", "", "-f", filepath.Join(dir, "host_"+kind)))
	}
	if os.Geteuid() == 0 {
		must.Do(t, os.MkdirAll("/run/sshd", 0o755)) // where Debian's sshd gives up its rights
	}
	sshd, err := exec.LookPath("sshd")
	must.Do(t, err)
	address = freeAddress(t)
	config := writeFile(t, filepath.Join(dir, "sshd_config"), fmt.Sprintf(daemonSSH, address, dir))
	start(t, exec.Command(sshd, "-D", "-e", "-f", config)).listens("tcp", address)
	return address
}

// keyKinds are arguments of ssh-keygen.
var keyKinds = map[string][]string{
	"ed25519":  {"-t", "ed25519"},
	"rsa":      {"-t", "rsa", "-b", "3072"},
	"rsa-pem":  {"-t", "rsa", "-b", "2048", "-m", "PEM"},
	"ecdsa":    {"-t", "ecdsa", "-b", "256"},
	"ecdsa521": {"-t", "ecdsa", "-b", "521"},
	"pkcs8":    {"-t", "ecdsa", "-b", "384", "-m", "PKCS8"},
}

// TestGitOverSSH meets OpenSSH: every kind of key, with and without a passphrase, and each
// form of known hosts.
func TestGitOverSSH(t *testing.T) {
	only(t)
	needs(t, "openssh-server openssh-client git", "sshd", "ssh-keygen", "ssh-keyscan", "git")
	repo, dir := gittest.New(t), t.TempDir()
	repo.Commit("edge.cue", fmt.Sprintf(wanted, 3))
	me, err := user.Current()
	must.Do(t, err)
	authorized := ""
	for name, args := range keyKinds {
		for file, phrase := range map[string]string{name: "", name + "-locked": "s3cret-phrase"} {
			run(t, exec.Command("ssh-keygen", append(args, "-q", "-N", phrase, "-f", filepath.Join(dir, file))...))
			authorized += harness.ReadText(t, filepath.Join(dir, file+".pub"))
		}
	}
	run(t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, "stranger")))
	writeFile(t, filepath.Join(dir, "authorized_keys"), authorized)
	address := startSSH(t, dir)
	host, port, err := net.SplitHostPort(address)
	must.Do(t, err)
	scan := func(name string, args ...string) string {
		out, err := exec.Command("ssh-keyscan", append(args, "-p", port, host)...).Output() // its comments are for people
		if err != nil || len(out) == 0 {
			t.Fatalf("ssh-keyscan: %v, %q", err, out)
		}
		return writeFile(t, filepath.Join(dir, name), string(out))
	}
	all, hashed := scan("known"), scan("hashed", "-H")
	impostor := strings.ReplaceAll(harness.ReadText(t, scan("impostor", "-t", "ed25519")), keyOf(t, filepath.Join(dir, "host_ed25519.pub")), keyOf(t, filepath.Join(dir, "stranger.pub")))

	p := newPlanner(t)
	url := fmt.Sprintf("ssh://%s@%s%s", me.Username, address, repo.Dir)
	try := func(t *testing.T, url, key, phrase, hosts string) (int, string) {
		t.Helper()
		text := fmt.Sprintf("url: %q, auth: ssh: {key: file: %q, known_hosts: %q%s}", url, filepath.Join(dir, key), hosts, phrase)
		return p.plan(t, text, "PHRASE=s3cret-phrase", "WRONG=s3cret-guess")
	}
	const right, wrong = `, passphrase: env: "PHRASE"`, `, passphrase: env: "WRONG"`
	for name := range keyKinds {
		t.Run(name, func(t *testing.T) {
			code, out := try(t, url, name, "", all)
			check(t, code, out, 0, found)
			if name == "pkcs8" {
				code, out = try(t, url, name+"-locked", right, all)
				check(t, code, out, 1, "encrypted in the format PKCS #8", "hint: convert it: ssh-keygen -p")
				return
			}
			code, out = try(t, url, name+"-locked", right, hashed)
			check(t, code, out, 0, found)
			code, out = try(t, url, name+"-locked", wrong, all)
			check(t, code, out, 1, "the passphrase does not decrypt the SSH key", "hint: ")
			code, out = try(t, url, name+"-locked", "", all)
			check(t, code, out, 1, "the SSH key is encrypted, and no passphrase is set", "hint: ")
			code, out = try(t, url, name+".pub", "", all)
			check(t, code, out, 1, "the SSH key is a public key", "hint: ")
		})
	}
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		t.Run("host key "+kind, func(t *testing.T) {
			code, out := try(t, url, "ed25519", "", scan("known-"+kind, "-t", kind))
			check(t, code, out, 0, found)
		})
	}
	tests := []struct {
		name, url, key, hosts string
		says                  []string
	}{
		{"unknown host", url, "ed25519", writeFile(t, filepath.Join(dir, "none"), ""), []string{"known hosts do not list the server", "SHA256:", "hint: compare this with the fingerprint"}},
		{"another host key", url, "ed25519", writeFile(t, filepath.Join(dir, "impostor"), impostor), []string{"the server's host key differs from known hosts", "SHA256:", "hint: this may be an attack"}},
		{"revoked host key", url, "ed25519", writeFile(t, filepath.Join(dir, "revoked"), revoked(harness.ReadText(t, all))), []string{"revoked", "hint: "}},
		{"unknown key", url, "stranger", all, []string{"does not know the key", "hint: add the public key"}},
		{"unknown user", strings.Replace(url, me.Username+"@", "nobody-of-this-name@", 1), "ed25519", all, []string{"does not know the key", "hint: "}},
		{"missing repository", url + "x", "ed25519", all, []string{"edge.gitx", "hint: "}},
		{"nothing listens", strings.Replace(url, address, freeAddress(t), 1), "ed25519", all, []string{"connection refused", "hint: "}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, out := try(t, test.url, test.key, "", test.hosts)
			check(t, code, out, 1, test.says...)
		})
	}
}

// revoked marks each line of known hosts.
func revoked(hosts string) (marked string) {
	for line := range strings.Lines(hosts) {
		marked += "@revoked " + line
	}
	return marked
}

// keyOf is the key itself in a public key's file.
func keyOf(t testing.TB, name string) string {
	t.Helper()
	return strings.Fields(harness.ReadText(t, name))[1]
}
