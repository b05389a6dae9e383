package main

import (
	"bytes"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/mlkem"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
)

// primitive is an operation of the cryptography beneath a session, with its parameters.
type primitive struct {
	Operation string `json:"operation"`
	Key       string `json:"key"`
	Group     group  `json:"group"`
	AEAD      string `json:"aead"`
}

// signed is the message of signatures, and recordData the contents of a record, as in
// netbench/worker/src/suite/mod.rs.
var (
	signed     = bytes.Repeat([]byte{0x20}, 130)
	recordData = bytes.Repeat([]byte{0x2e}, 16<<10)
)

// newPrimitive returns an operation of Go's cryptography, after a check that it works correctly.
func newPrimitive(wanted *primitive, given *material) (*scenario, error) {
	switch wanted.Operation {
	case "sign", "verify":
		s, err := newSigning(given)
		if err != nil {
			return nil, err
		}
		if err := s.prove(); err != nil {
			return nil, &stepError{"primitive", err}
		}
		if wanted.Operation == "sign" {
			return prepared("primitive", nil, s.sign)
		}
		return prepared("primitive", nil, s.verify)
	case "key-share", "respond", "agree":
		x, err := newExchange(wanted.Group)
		if err != nil {
			return nil, err
		}
		if err := x.prove(); err != nil {
			return nil, &stepError{"primitive", err}
		}
		switch wanted.Operation {
		case "key-share":
			return prepared("primitive", nil, x.keyShare)
		case "respond":
			return prepared("primitive", nil, x.respond)
		}
		return prepared("primitive", func() error { return errors.Join(x.keyShare(), x.respond()) }, x.agree)
	case "seal", "open":
		r, err := newRecords(wanted.AEAD)
		if err != nil {
			return nil, err
		}
		if err := r.prove(); err != nil {
			return nil, &stepError{"primitive", err}
		}
		if wanted.Operation == "seal" {
			return prepared("primitive", nil, r.seal)
		}
		return prepared("primitive", r.receive, r.open)
	}
	return nil, unsupported("this worker does not know the operation " + wanted.Operation)
}

// signing is a key, the public key of its certificate, and the last signature. crypto/tls hashes and signs in
// the same way.
type signing struct {
	key       crypto.Signer
	public    crypto.PublicKey
	hash      crypto.Hash
	options   crypto.SignerOpts
	signature []byte
}

func newSigning(given *material) (*signing, error) {
	block, _ := pem.Decode([]byte(given.KeyPEM))
	if block == nil {
		return nil, errors.New("no key in the PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	chain, err := certificatesOf(given.ChainPEM)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(chain[0])
	if err != nil {
		return nil, err
	}
	s := &signing{public: leaf.PublicKey, hash: crypto.SHA256}
	switch key := parsed.(type) {
	case *rsa.PrivateKey:
		s.key, s.options = key, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: s.hash}
	case *ecdsa.PrivateKey:
		if key.Curve.Params().BitSize == 384 {
			s.hash = crypto.SHA384
		}
		s.key, s.options = key, s.hash
	case ed25519.PrivateKey:
		s.key, s.hash, s.options = key, 0, crypto.Hash(0)
	case crypto.Signer:
		if mlDSA.isKey == nil || !mlDSA.isKey(parsed) {
			return nil, unsupported(fmt.Sprintf("Go signs with no %T", parsed))
		}
		s.key, s.hash, s.options = key, 0, crypto.Hash(0)
	default:
		return nil, unsupported(fmt.Sprintf("Go signs with no %T", parsed))
	}
	return s, nil
}

func (s *signing) digest() []byte {
	if s.hash == 0 {
		return signed
	}
	hash := s.hash.New()
	hash.Write(signed)
	return hash.Sum(nil)
}

func (s *signing) sign() (err error) {
	s.signature, err = s.key.Sign(rand.Reader, s.digest(), s.options)
	return err
}

var errSignature = errors.New("the signature is wrong")

func (s *signing) verify() error {
	switch public := s.public.(type) {
	case *rsa.PublicKey:
		options := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}
		return rsa.VerifyPSS(public, s.hash, s.digest(), s.signature, options)
	case *ecdsa.PublicKey:
		if ecdsa.VerifyASN1(public, s.digest(), s.signature) {
			return nil
		}
	case ed25519.PublicKey:
		if ed25519.Verify(public, signed, s.signature) {
			return nil
		}
	}
	if mlDSA.verify != nil {
		if err, ok := mlDSA.verify(s.public, signed, s.signature); ok {
			return err
		}
	}
	return errSignature
}

// prove checks that a signature verifies, and that one with a changed bit does not.
func (s *signing) prove() error {
	if err := errors.Join(s.sign(), s.verify()); err != nil {
		return err
	}
	s.signature[len(s.signature)-1] ^= 1
	if s.verify() == nil {
		return errors.New("a wrong signature is accepted")
	}
	return s.sign()
}

// exchange is both sides of a key exchange, as in crypto/tls.
type exchange struct {
	curve  ecdh.Curve
	hybrid bool

	own           *ecdh.PrivateKey
	decapsulation *mlkem.DecapsulationKey768
	share         []byte
	// The server's message, and the secrets of both sides.
	answer         []byte
	server, client []byte
}

func newExchange(wanted group) (*exchange, error) {
	if !slices.Contains(groupOrder, wanted.code) {
		return nil, lacks("group " + wanted.name)
	}
	switch tls.CurveID(wanted.code) {
	case tls.X25519:
		return &exchange{curve: ecdh.X25519()}, nil
	case tls.CurveP256:
		return &exchange{curve: ecdh.P256()}, nil
	case tls.CurveP384:
		return &exchange{curve: ecdh.P384()}, nil
	case tls.X25519MLKEM768:
		return &exchange{curve: ecdh.X25519(), hybrid: true}, nil
	}
	return nil, unsupported("this worker does not time the group " + wanted.name)
}

func (x *exchange) keyShare() (err error) {
	if x.own, err = x.curve.GenerateKey(rand.Reader); err != nil {
		return err
	}
	x.share = x.own.PublicKey().Bytes()
	if x.hybrid {
		if x.decapsulation, err = mlkem.GenerateKey768(); err != nil {
			return err
		}
		x.share = append(x.decapsulation.EncapsulationKey().Bytes(), x.share...)
	}
	return nil
}

func (x *exchange) respond() error {
	share := x.share
	var sent, secret []byte
	if x.hybrid {
		if len(share) < mlkem.EncapsulationKeySize768 {
			return errors.New("a share that is too short")
		}
		encapsulation, err := mlkem.NewEncapsulationKey768(share[:mlkem.EncapsulationKeySize768])
		if err != nil {
			return err
		}
		secret, sent = encapsulation.Encapsulate()
		share = share[mlkem.EncapsulationKeySize768:]
	}
	own, err := x.curve.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	agreed, err := agreedWith(own, share)
	if err != nil {
		return err
	}
	x.answer, x.server = append(sent, own.PublicKey().Bytes()...), append(secret, agreed...)
	return nil
}

func (x *exchange) agree() error {
	answer := x.answer
	var secret []byte
	if x.hybrid {
		if len(answer) < mlkem.CiphertextSize768 {
			return errors.New("an answer that is too short")
		}
		decapsulated, err := x.decapsulation.Decapsulate(answer[:mlkem.CiphertextSize768])
		if err != nil {
			return err
		}
		secret, answer = decapsulated, answer[mlkem.CiphertextSize768:]
	}
	agreed, err := agreedWith(x.own, answer)
	if err != nil {
		return err
	}
	x.client = append(secret, agreed...)
	return nil
}

func agreedWith(own *ecdh.PrivateKey, share []byte) ([]byte, error) {
	peer, err := own.Curve().NewPublicKey(share)
	if err != nil {
		return nil, err
	}
	return own.ECDH(peer)
}

// prove checks that both sides derive the same secret.
func (x *exchange) prove() error {
	for _, step := range []func() error{x.keyShare, x.respond, x.agree} {
		if err := step(); err != nil {
			return err
		}
	}
	if len(x.client) == 0 || !bytes.Equal(x.client, x.server) {
		return errors.New("the sides have different secrets")
	}
	return nil
}

// records are the keys of one direction, which both ends have, and the last record.
type records struct {
	aead             cipher.AEAD
	sealed, received []byte
	data             []byte
}

// nonce is the nonce of every record. It depends on the record's number; each record here is the first, so
// that it can be opened many times.
var nonce = bytes.Repeat([]byte{0x11}, 12)

const applicationData, tagBytes = 23, 16

// recordHeader is authenticated with the record.
var recordHeader = func() []byte {
	length := len(recordData) + 1 + tagBytes
	return []byte{applicationData, 3, 3, byte(length >> 8), byte(length)}
}()

func newRecords(algorithm string) (*records, error) {
	lengths := map[string]int{"AES128-GCM_SHA256": 16, "AES256-GCM_SHA384": 32}
	length, ok := lengths[algorithm]
	if !ok {
		return nil, unsupported("Go's standard library does not publish ChaCha20-Poly1305")
	}
	block, err := aes.NewCipher(bytes.Repeat([]byte{0x5a}, length))
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &records{aead: aead}, err
}

// seal copies the data to the buffer in which they are then encrypted, as crypto/tls does.
func (r *records) seal() error {
	r.sealed = append(append(r.sealed[:0], recordData...), applicationData)
	r.sealed = r.aead.Seal(r.sealed[:0], nonce, r.sealed, recordHeader)
	return nil
}

func (r *records) receive() error {
	r.received = append(r.received[:0], r.sealed...)
	return nil
}

func (r *records) open() (err error) {
	r.data, err = r.aead.Open(r.received[:0], nonce, r.received, recordHeader)
	return err
}

// prove checks that a record opens to its data, and that one with a changed bit does not.
func (r *records) prove() error {
	if err := errors.Join(r.seal(), r.receive(), r.open()); err != nil {
		return err
	}
	if !bytes.Equal(r.data, append(bytes.Clone(recordData), applicationData)) {
		return errors.New("a record opens to other data than it was made of")
	}
	r.sealed[len(r.sealed)-1] ^= 1
	if errors.Join(r.receive(), r.open()) == nil {
		return errors.New("a changed record is accepted")
	}
	return r.seal()
}
