package gitrepo

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	git "github.com/go-git/go-git/v5"

	"github.com/seawall-dev/seawall/desired/gitrepo/internal/packbound"
	"github.com/seawall-dev/seawall/desired/gitrepo/internal/transfer"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// timeoutError is a fetch that took longer than its source allows.
type timeoutError struct{ bound time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("it took longer than %s", e.bound) }

// Is makes it a deadline's error.
func (e *timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// errSilent is a server that sent nothing for too long.
var errSilent = errors.New("the server is silent")

// bounded is ctx within the source's own bound.
func (s Source) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.Timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, s.Timeout, &timeoutError{s.Timeout})
}

// explain turns go-git's error into one that a person can act on. What the
// server said is quoted without the credential, which some servers echo.
func (f *fetch) explain(ctx context.Context, err error) error {
	var known *Error
	if err = opened(err); errors.As(err, &known) {
		return err
	}
	if ctx.Err() != nil {
		err = opened(context.Cause(ctx)) // whatever it looks like from where it struck
	}
	if isLocal(err) {
		return storeError("writing", err)
	}
	e := f.classify(err)
	e.Doing = f.address.doing(f.source.Ref)
	if e.Reason == "" {
		e.Reason = firstLine(f.scrub(err.Error())) // cutting first could leave half a secret
	}
	if isContext(err) {
		e.From = err
	}
	return e
}

// opened takes off the wrappers of go-git that hide what they wrap.
func opened(err error) error {
	var unexpected *plumbing.UnexpectedError
	for errors.As(err, &unexpected) {
		err = unexpected.Err
	}
	var permanent *plumbing.PermanentError
	for errors.As(err, &permanent) {
		err = permanent.Err
	}
	return err
}

// isLocal reports whether it was the store's disk that failed. The operating
// system's numbers for that pass for errors of the network otherwise.
func isLocal(err error) bool {
	var file *fs.PathError
	var link *os.LinkError
	return isFull(err) || errors.As(err, &file) && file.Op != "fork/exec" || errors.As(err, &link)
}

func isContext(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

func (f *fetch) classify(err error) *Error {
	var over *timeoutError
	var silence *transfer.SilenceError
	var bound *packbound.Error
	var page *transfer.PageError
	switch {
	case errors.As(err, &page):
		return &Error{Kind: ErrFetch, Reason: "it answered with " + firstLine(page.Text), Hint: "check the URL: it must be that of the repository; a page may be the sign-in of a proxy"}
	case errors.As(err, &over):
		return &Error{Kind: ErrFetch, Reason: over.Error(), Hint: "raise source.timeout for a large repository or a slow connection"}
	case errors.As(err, &silence):
		return &Error{Kind: ErrUnreachable, From: errSilent, Reason: silence.Error(), Hint: "check the host, the port and the network; raise source.idle_timeout for a server that answers slowly"}
	case errors.As(err, &bound):
		return f.limits.tooLarge(bound)
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Kind: ErrUnreachable, Reason: "it did not answer in time", Hint: "check the host, the port and the network"}
	case errors.Is(err, context.Canceled):
		return &Error{Kind: ErrFetch, Reason: "it was cancelled"}
	case errors.Is(err, git.NoMatchingRefSpecError{}):
		return noRef(f.source.Ref, f.offered)
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return &Error{Kind: ErrRefNotFound, Reason: "the repository is empty", Hint: "push a first commit"}
	}
	for _, classify := range []func(error) *Error{classifyRefusal, classifySSH, f.classifyRedirect, classifyCertificate} {
		if e := classify(err); e != nil {
			return e
		}
	}
	return classifyNetwork(err)
}

func classifyRefusal(err error) *Error {
	switch {
	case errors.Is(err, transport.ErrAuthenticationRequired):
		return &Error{Kind: ErrAuth, Hint: "check source.auth: the credential must be set, not expired, and allowed to read this repository"}
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return &Error{Kind: ErrAuth, Hint: "the credential was understood but may not read this repository"}
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return &Error{Kind: ErrNotFound, Hint: "check the path, and that the credential may read the repository if it is private"}
	case strings.Contains(err.Error(), "dubious ownership"):
		return &Error{Kind: ErrOwner, Hint: "run as its owner, or list it under safe.directory in /etc/gitconfig"}
	}
	return nil
}

func classifySSH(err error) *Error {
	var unknown *knownhosts.KeyError
	var revoked *knownhosts.RevokedError
	var algorithms *ssh.AlgorithmNegotiationError
	switch {
	case errors.As(err, &unknown) && len(unknown.Want) == 0:
		return &Error{Kind: ErrHostKey, Reason: "known hosts do not list the server" + shownKey(err), Hint: "compare this with the fingerprint that the operator of the server publishes, then add the line that ssh-keyscan prints"}
	case errors.As(err, &unknown):
		return &Error{Kind: ErrHostKey, Reason: "the server's host key differs from known hosts" + shownKey(err), Hint: "this may be an attack; if the server's key was changed on purpose, update known hosts"}
	case errors.As(err, &revoked):
		return &Error{Kind: ErrHostKey, Reason: "known hosts list the server's key as revoked", Hint: "ask the operator of the server"}
	case errors.As(err, &algorithms):
		return &Error{Kind: ErrHostKey, Hint: "the server has no key of a type that known hosts list; add the line that ssh-keyscan prints"}
	case strings.Contains(err.Error(), "unable to authenticate"):
		return &Error{Kind: ErrAuth, Reason: "it does not know the key for this user", Hint: "add the public key to the repository's deploy keys, and check the user name"}
	}
	return nil
}

// classifyRedirect is about a server that sends the fetch to another one, or somewhere where
// go-git does not follow; nil if it is neither.
func (f *fetch) classifyRedirect(err error) *Error {
	var request *url.Error
	if !errors.As(err, &request) {
		return nil
	}
	from, badSource := url.Parse(f.source.URL)
	if badSource != nil {
		return nil //nolint:nilerr // then it is not about a redirect
	}
	to, badTarget := from.Parse(request.URL) // a server may send a path alone
	if badTarget != nil {
		return nil //nolint:nilerr // then it is not about a redirect
	}
	refused := strings.HasPrefix(request.Err.Error(), "http redirect: ")
	if !refused && from.Scheme == to.Scheme && from.Host == to.Host {
		return nil
	}
	target := (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: strings.TrimSuffix(to.Path, "/info/refs")}).String()
	reason, _, _ := strings.Cut(strings.TrimPrefix(request.Err.Error(), "http redirect: "), ": http") // the address again
	return &Error{
		Kind: ErrUnreachable, Reason: firstLine(f.scrub("it redirects to " + target + ": " + reason)),
		Hint: "if the repository has moved, set source.url to its new address",
	}
}

// classifyCertificate is about a server whose certificate is not accepted; nil for anything
// else.
func classifyCertificate(err error) *Error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	e := &Error{Kind: ErrUnreachable}
	switch {
	case errors.As(err, &unknown):
		e.Hint = "set source.ca_file to a file with the certificate of the authority, in PEM"
	case errors.As(err, &name):
		e.Reason, e.Hint = certificateReason(name), "use a name in source.url that the certificate of the server has"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		e.Reason, e.Hint = certificateReason(invalid), "the certificate of the server must be renewed; if it is valid, set the clock of this machine"
	case errors.As(err, &invalid):
		e.Reason, e.Hint = certificateReason(invalid), "the operator of the server must replace its certificate"
	default:
		return nil
	}
	return e
}

func certificateReason(err error) string { return "its certificate is not accepted: " + err.Error() }

func classifyNetwork(err error) *Error {
	var status *githttp.Err
	var network net.Error
	var op *net.OpError
	switch {
	case errors.As(err, &status):
		return classifyStatus(status)
	case errors.As(err, &op), errors.As(err, &network):
		return &Error{Kind: ErrUnreachable, Hint: "check the host, the port and the network"}
	}
	return &Error{Kind: ErrFetch, Hint: "try git fetch with the same URL by hand"}
}

// classifyStatus tells a server that has a problem from one that does not serve what was
// asked for.
func classifyStatus(status *githttp.Err) *Error {
	e := &Error{
		Kind: ErrUnreachable, Reason: fmt.Sprintf("it answered with status %d", status.StatusCode()),
		Hint: "check the status page of the server; Seawall tries again",
	}
	if code := status.StatusCode(); code < http.StatusInternalServerError && code != http.StatusTooManyRequests {
		e.Hint = "check the URL: it must be that of the repository, with the scheme of the server"
	}
	return e
}

// scrub removes credentials from text, and what the address may hold of one.
func (f *fetch) scrub(text string) string {
	return edge.Redact(strings.ReplaceAll(text, f.source.URL, f.address.display))
}

var (
	page  = lazyregexp.New(`(?is)<(?:!doctype|html|head|body)\b.*`)
	title = lazyregexp.New(`(?is)<title\b[^>]*>(.*?)</title`)
)

// readable is text with the title of a page of HTML in place of the page.
func readable(text string) string {
	return page().ReplaceAllStringFunc(text, func(markup string) string {
		if found := title().FindStringSubmatch(markup); found != nil {
			return "the web page " + strconv.Quote(strings.Join(strings.Fields(html.UnescapeString(found[1])), " "))
		}
		return "a web page"
	})
}

// firstLine cuts what may be a long text, or a page of HTML.
func firstLine(text string) string {
	const longest = 200
	text = readable(text)
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = strings.TrimRight(text, " :\r")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}
