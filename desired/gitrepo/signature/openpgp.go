package signature

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// readKeyring reads armored public keys. A key that cannot be read is an error:
// the library would pass over it, and what it signed would be a riddle.
func readKeyring(data []byte) (openpgp.EntityList, error) {
	var keys openpgp.EntityList
	blocks := bytes.Count(data, []byte("-----BEGIN PGP"))
	in := bufio.NewReader(bytes.NewReader(data)) // shared, so that no block loses its beginning to the one before
	for n := 1; n <= blocks; n++ {
		block, err := armor.Decode(in)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", n, err)
		}
		if block.Type != openpgp.PublicKeyType {
			return nil, fmt.Errorf("block %d is a %s, not a PGP PUBLIC KEY BLOCK", n, block.Type)
		}
		more, err := readKeys(block.Body)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", n, err)
		}
		keys = append(keys, more...)
	}
	if len(keys) == 0 {
		return nil, errors.New("it holds no key")
	}
	return keys, nil
}

func readKeys(body io.Reader) (openpgp.EntityList, error) {
	var keys openpgp.EntityList
	packets := packet.NewReader(body)
	for {
		key, err := openpgp.ReadEntity(packets)
		if errors.Is(err, io.EOF) {
			return keys, nil
		}
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", len(keys)+1, err)
		}
		if key.PrivateKey != nil {
			return nil, fmt.Errorf("key %d is a private key", len(keys)+1)
		}
		keys = append(keys, key)
	}
}

// openPGPConfig is the library's own policy: no SHA-1, no MD5, no DSA, no RSA
// below 2048 bits.
var openPGPConfig *packet.Config

// verifyOpenPGP checks a signature by a key that is valid now: its time is what
// its maker says, and whoever has stolen an expired key can say anything. The
// library would judge the key at that time instead, by certifications that
// GnuPG drops when an expiry is put off.
func (k Keys) verifyOpenPGP(o Object, now time.Time) (Signer, error) {
	if _, err := oneArmor(o.signature, OpenPGP); err != nil {
		return Signer{}, err
	}
	sig, err := openPGPSignature(o.signature)
	if err != nil {
		return Signer{}, err
	}
	if k.openpgp == nil {
		return Signer{}, untrusted("name a file of keys as source.verify.openpgp", "it is signed with OpenPGP, for which no keys are trusted")
	}
	why := untrusted(trustHint, "it claims a signature of OpenPGP key %s, which is not trusted", issuer(sig))
	for _, entity := range k.openpgp.EntitiesById(*sig.IssuerKeyId) {
		if why = madeBy(entity, sig, o.payload, now); why == nil {
			return openPGPSigner(entity, now), nil
		}
	}
	return Signer{}, why
}

func openPGPSigner(entity *openpgp.Entity, now time.Time) Signer {
	who := Signer{Form: OpenPGP, Fingerprint: fmt.Sprintf("%X", entity.PrimaryKey.Fingerprint)}
	if _, identity := entity.PrimaryIdentity(now, openPGPConfig); identity != nil {
		who.Principal = identity.Name
	}
	return who
}

// madeBy returns nil if the key made the signature of the payload, and may.
func madeBy(entity *openpgp.Entity, sig *packet.Signature, payload []byte, now time.Time) error {
	by := "OpenPGP key " + issuer(sig)
	key, err := signingKey(entity, sig, now)
	if err != nil {
		return err
	}
	if openPGPConfig.RejectMessageHashAlgorithm(sig.Hash) {
		return untrusted("sign with SHA-256 or better", "it is signed by %s with the weak hash %s", by, sig.Hash)
	}
	hash, err := sig.PrepareVerify()
	if err != nil {
		return broken(err)
	}
	_, _ = hash.Write(payload) // a hash never fails
	if err := key.PublicKey.VerifySignature(hash, sig); err != nil {
		return untrusted(brokenHint, "it is not what %s signed: the signature is bad", by)
	}
	return inForce(sig, key.PublicKey, now)
}

// inForce judges what a signature that is genuine says of itself.
func inForce(sig *packet.Signature, key *packet.PublicKey, now time.Time) error {
	by := "OpenPGP key " + issuer(sig)
	switch {
	case sig.CreationTime.After(now.Add(clockSkew)):
		return untrusted("check the clocks", "its signature by %s claims a time in the future", by)
	case sig.CreationTime.Before(key.CreationTime):
		return untrusted(trustHint, "its signature claims to be older than %s", by)
	case sig.SigExpired(laterOf(now, sig.CreationTime)):
		return untrusted(expiredHint, "its signature by %s has expired", by)
	}
	for _, notation := range sig.Notations {
		if notation.IsCritical {
			return untrusted(trustHint, "its signature by %s is bound to the condition %q, which is not known", by, notation.Name)
		}
	}
	return nil
}

// signingKey finds the key of an entity that a signature names, if it may sign.
func signingKey(entity *openpgp.Entity, sig *packet.Signature, now time.Time) (openpgp.Key, error) {
	key, ok := entity.SigningKeyById(now, *sig.IssuerKeyId, openPGPConfig)
	if ok {
		return key, nil
	}
	by := "OpenPGP key " + issuer(sig)
	err := validNow(entity, *sig.IssuerKeyId, now)
	switch {
	case errors.Is(err, pgperrors.ErrKeyExpired):
		return key, untrusted(expiredHint, "it is signed by %s, which has expired", by)
	case errors.Is(err, pgperrors.ErrKeyRevoked):
		return key, untrusted(expiredHint, "it is signed by %s, which is revoked", by)
	}
	return key, untrusted("sign with a current signing key", "it is signed by %s, which is too weak or not meant for signing", by)
}

// openPGPSignature reads the one signature there may be. A signature over text
// would hold for other line ends too, and is refused.
func openPGPSignature(armored []byte) (*packet.Signature, error) {
	block, err := armor.Decode(bytes.NewReader(armored))
	if err != nil {
		return nil, broken(err)
	}
	body, err := io.ReadAll(block.Body)
	if err != nil {
		return nil, broken(err)
	}
	packets := packet.NewReader(bytes.NewReader(body))
	first, err := packets.Next()
	if err != nil {
		return nil, broken(err)
	}
	sig, ok := first.(*packet.Signature)
	if !ok || sig.IssuerKeyId == nil || sig.SigType != packet.SigTypeBinary {
		return nil, broken(errors.New("it is no signature of a binary document"))
	}
	if _, err := packets.Next(); !errors.Is(err, io.EOF) {
		return nil, untrusted(brokenHint, "it has more than one signature")
	}
	return sig, nil
}

// validNow says what is wrong with the time of a key.
func validNow(entity *openpgp.Entity, id uint64, now time.Time) error {
	if _, err := entity.VerifyPrimaryKey(now, openPGPConfig); err != nil {
		return err
	}
	for i := range entity.Subkeys {
		if entity.Subkeys[i].PublicKey.KeyId == id {
			_, err := entity.Subkeys[i].Verify(now, openPGPConfig)
			return err
		}
	}
	return nil
}

func laterOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// issuer names the key a signature says it is by.
func issuer(sig *packet.Signature) string {
	if len(sig.IssuerFingerprint) > 0 {
		return fmt.Sprintf("%X", sig.IssuerFingerprint)
	}
	return fmt.Sprintf("%016X", *sig.IssuerKeyId)
}
