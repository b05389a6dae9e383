//go:build go1.27

package main

import (
	"crypto"
	"crypto/mldsa"
	"crypto/tls"
)

var mlDSA = mlDSAOfGo{
	schemes: map[string]tls.SignatureScheme{
		"mldsa-44": tls.MLDSA44, "mldsa-65": tls.MLDSA65, "mldsa-87": tls.MLDSA87,
	},
	isKey: func(key any) bool {
		_, ok := key.(*mldsa.PrivateKey)
		return ok
	},
	verify: func(public crypto.PublicKey, message, signature []byte) (error, bool) {
		key, ok := public.(*mldsa.PublicKey)
		if !ok {
			return nil, false
		}
		return mldsa.Verify(key, message, signature, nil), true
	},
}
