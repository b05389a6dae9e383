// Writes the seven private keys that the runner embeds. Any keys serve; BoringSSL's own are not part of
// the package that its source comes in.
package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"log"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	folder := os.Args[1]
	for name, bits := range map[string]int{"rsa_1024": 1024, "rsa_2048": 2048} {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		write(folder, name, key, err)
	}
	for name, curve := range map[string]elliptic.Curve{
		"ecdsa_p256": elliptic.P256(),
		"ecdsa_p384": elliptic.P384(),
		"ecdsa_p521": elliptic.P521(),
		"channel_id": elliptic.P256(),
	} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		write(folder, name, key, err)
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	write(folder, "ed25519", key, err)
}

func write(folder, name string, key any, err error) {
	if err != nil {
		log.Fatalf("cannot make the key %s: %s", name, err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		log.Fatalf("cannot encode the key %s: %s", name, err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	path := filepath.Join(folder, name+"_key.pem")
	if err := os.WriteFile(path, block, 0o600); err != nil {
		log.Fatal(err)
	}
}
