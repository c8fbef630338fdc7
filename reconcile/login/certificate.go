package login

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// fromCertificate is whom a client certificate names, which the server's TLS has verified, and
// when it ends; nil where the client has shown none.
func fromCertificate(state *tls.ConnectionState, now time.Time) (*Identity, time.Time, error) {
	if state == nil || len(state.PeerCertificates) == 0 {
		return nil, time.Time{}, nil
	}
	if len(state.VerifiedChains) == 0 {
		return nil, time.Time{}, errors.New("the client certificate was not verified")
	}
	leaf := state.PeerCertificates[0]
	if now.After(leaf.NotAfter) { // the connection may be older
		return nil, time.Time{}, errors.New("the client certificate has expired")
	}
	identity := Identity{Way: ByCertificate, User: nameIn(leaf)}
	for _, group := range slices.Concat(leaf.Subject.Organization, leaf.Subject.OrganizationalUnit) {
		if !slices.Contains(identity.Groups, group) {
			identity.Groups = append(identity.Groups, group)
		}
	}
	if err := checkIdentity(identity); err != nil {
		return nil, time.Time{}, fmt.Errorf("the client certificate cannot be used: %w", err)
	}
	return &identity, leaf.NotAfter, nil
}

// nameIn is the name of a person in a certificate.
func nameIn(c *x509.Certificate) string {
	switch {
	case len(c.EmailAddresses) > 0:
		return c.EmailAddresses[0]
	case len(c.URIs) > 0:
		return c.URIs[0].String()
	case len(c.DNSNames) > 0:
		return c.DNSNames[0]
	}
	return c.Subject.CommonName
}
