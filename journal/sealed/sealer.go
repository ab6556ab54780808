package sealed

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Sealer seals texts with one key. It must be safe for concurrent use.
type Sealer interface {
	// KeyID names the key without revealing it: 1 to 64 of A-Z, a-z, 0-9, dot, underscore and hyphen. Keys
	// differ in their ids.
	KeyID() string
	// Seal returns a text encrypted, and authenticated together with its place. It does not keep its
	// arguments.
	Seal(text, place []byte) ([]byte, error)
	// Open returns what Seal was given. It returns an error if either argument has changed.
	Open(sealed, place []byte) ([]byte, error)
	// Hash returns a keyed hash of a text. Of two keys, the hashes of a text differ.
	Hash(text []byte) [16]byte
}

// MinKey is the shortest secret of [AES], in bytes.
const MinKey = 32

// AES returns a [Sealer] by AES-256-GCM, whose keys are derived from a random secret of at least [MinKey]
// bytes. Each text has a random nonce of 224 bits, so the number of texts under one secret has no bound of
// practice.
func AES(secret []byte) (Sealer, error) {
	if len(secret) < MinKey {
		return nil, fmt.Errorf("sealed: a key of %d bytes can be guessed: give %d random bytes or more",
			len(secret), MinKey)
	}
	part := func(what string, size int) []byte {
		key, err := hkdf.Key(sha256.New, secret, nil, "retake journal "+what, size)
		if err != nil {
			panic(err) // sizes of up to 255 hashes do not fail
		}
		return key
	}
	return &aesSealer{id: hex.EncodeToString(part("key id", 8)), seal: part("sealing", 32),
		hash: part("hash", 32)}, nil
}

// ParseKeys reads a file of keys: one a line, of [MinKey] or more bytes, as [AES] takes them. The first
// seals, and all open. Spaces around a key, empty lines, and those that begin with # do not count. Errors
// name the line, never the key.
func ParseKeys(text []byte) ([]Sealer, error) {
	var keys []Sealer
	for n, line := range bytes.Split(text, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		key, err := AES(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("sealed: there is no key in it: give one a line, such as openssl rand -base64 32 makes")
	}
	return keys, nil
}

type aesSealer struct {
	id         string
	seal, hash []byte
}

// saltLen is the length of the part of the nonce from which the key of a text is derived.
const saltLen = 16

func (s *aesSealer) KeyID() string { return s.id }

// Format implements [fmt.Formatter]: no log has the key.
func (s *aesSealer) Format(to fmt.State, _ rune) { fmt.Fprint(to, "sealed key ", s.id) }

func (s *aesSealer) Hash(text []byte) (hash [16]byte) {
	sum := hmac.New(sha256.New, s.hash)
	sum.Write(text)
	copy(hash[:], sum.Sum(nil))
	return hash
}

// aead returns the cipher of a text.
func (s *aesSealer) aead(salt []byte) (cipher.AEAD, error) {
	key := hmac.New(sha256.New, s.seal)
	key.Write(salt)
	block, err := aes.NewCipher(key.Sum(nil))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (s *aesSealer) Seal(text, place []byte) ([]byte, error) {
	salt := make([]byte, saltLen, saltLen+len(text)+28)
	_, _ = rand.Read(salt) // it never fails
	aead, err := s.aead(salt)
	if err != nil {
		return nil, err
	}
	return aead.Seal(salt, nil, text, place), nil
}

func (s *aesSealer) Open(sealed, place []byte) ([]byte, error) {
	if len(sealed) < saltLen {
		return nil, errors.New("it is too short")
	}
	aead, err := s.aead(sealed[:saltLen])
	if err != nil {
		return nil, err
	}
	return aead.Open(nil, nil, sealed[saltLen:], place)
}
