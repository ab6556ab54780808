package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/sealed"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
)

// The console of a folder of sealed journals and a database of others says on its first line where it is, and
// answers there alone.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("../../report/testdata/long.jsonl")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, journal.FileName("order-42")), text, 0o600))
	key, err := sealed.AES(bytes.Repeat([]byte("k"), sealed.MinKey))
	require.NoError(t, err)
	require.NoError(t, sealed.Seal(t.Context(), journal.Dir(dir), "order-42", key))
	path := filepath.Join(t.TempDir(), "runs.db")
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	defer store.Close()
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	half := strings.Index(string(text), "\n") + 1
	require.NoError(t, log.Append(t.Context(), 0, text[:half], false))
	require.NoError(t, log.Append(t.Context(), int64(half), text[half:], false))

	home, token := served(t, []sealed.Sealer{key}, dir, path)
	get := func(address string) (int, string) { return get(t, address) }
	status, answer := get(home + "api/sessions?" + token)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, 2, strings.Count(answer, `"id":"order-42"`), "both are read to their ends: %s", answer)
	assert.Equal(t, 2, strings.Count(answer, `"state":"failed","why":"transport attempt 1 of 3: unknown`))
	status, _ = get(home + "api/sessions")
	assert.Equal(t, http.StatusForbidden, status)
	_, port, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(home, "/"), "http://"), ":")
	status, _ = get("http://localhost:" + port + "/?" + token)
	assert.Equal(t, http.StatusForbidden, status, "another name than the one that is listened on")
}

// The limits that processes share in a database are shown, also those of a database that has no journals yet.
func TestServeShowsTheLimitsOfADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.db")
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	home, token := served(t, nil, path)
	_, page := get(t, home+"limits?"+token)
	assert.Contains(t, page, "No call has asked the limiter")

	shared, err := sqlite.OpenLimits(t.Context(), path)
	require.NoError(t, err)
	defer shared.Close()
	l, err := limiter.New(limiter.Config{Store: shared, Limit: limit.Config{
		Windows: []limit.Window{{Resource: "requests", Limit: 600, Period: time.Minute}},
	}})
	require.NoError(t, err)
	granted := make(chan limiter.Answer, 1)
	_, known := l.Ask(limiter.Ask{Scope: "gpt"}, func(a limiter.Answer) { granted <- a })
	require.False(t, known, "the store is asked first")
	<-granted
	_, page = get(t, home+"limits?"+token)
	assert.Contains(t, page, `<td dir="auto">gpt<td>closed<td>600 requests in 1m0s<td>0<td>at most 1<td>1, to 1 process<td>`)
	_, page = get(t, home+"?"+token)
	assert.Contains(t, page, `<a href="limits">`)

	folder, token := served(t, nil, t.TempDir())
	status, _ := get(t, folder+"limits?"+token)
	assert.Equal(t, http.StatusNotFound, status, "a folder has none")
}

// A token of one's own is no part of what is printed, which logs keep, and is the same after the next start.
func TestServeWithATokenThatStays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("0123456789_abc-DEF\n"), 0o600))
	line := servedLine(t, file, nil, t.TempDir())
	require.Regexp(t, `^http://127\.0\.0\.1:[0-9]+/\n$`, line)
	status, _ := get(t, strings.TrimSpace(line)+"?token=0123456789_abc-DEF")
	assert.Equal(t, http.StatusOK, status)
	status, _ = get(t, strings.TrimSpace(line))
	assert.Equal(t, http.StatusForbidden, status)
}

// served serves the console of stores until the test ends, and returns its address and the token as a query.
func served(t *testing.T, keys []sealed.Sealer, names ...string) (home, token string) {
	t.Helper()
	line := servedLine(t, "", keys, names...)
	require.Regexp(t, `^http://127\.0\.0\.1:[0-9]+/\?token=[A-Z2-7]{26}\n$`, line)
	home, token, _ = strings.Cut(strings.TrimSpace(line), "?")
	return home, token
}

// servedLine serves the console with the token in a file, or a new one, and returns the line that it prints.
func servedLine(t *testing.T, file string, keys []sealed.Sealer, names ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	out, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		s := &serve{Listen: "127.0.0.1:0", Token: file, stores: stores{names: names}}
		e := &env{out: bufio.NewWriter(w), err: io.Discard, keys: keys}
		ended <- errors.Join(s.until(ctx, e), e.closeDatabases())
	}()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return line
}

// get returns the status and the body of a page.
func get(t *testing.T, address string) (int, string) {
	t.Helper()
	r, err := http.Get(address)
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.StatusCode, string(text)
}

// Others are let in with a certificate, or if that is said.
func TestWhereServeListens(t *testing.T) {
	cert, key := certificate(t)
	for _, one := range []struct {
		s           serve
		host, fault string
	}{
		{serve{Listen: "127.0.0.1:0"}, "127.0.0.1", ""},
		{serve{Listen: "[::1]:80"}, "::1", ""},
		{serve{Listen: "localhost:80"}, "localhost", ""},
		{serve{Listen: "10.0.0.1:80"}, "", "give -cert and -key"},
		{serve{Listen: ":80"}, "", "give -cert and -key"},
		{serve{Listen: "example.org:80", InsecureListen: true}, "example.org", ""},
		{serve{Listen: "0.0.0.0:80", InsecureListen: true}, "", "say with -name"},
		{serve{Listen: ":443", Cert: cert, Key: key, Name: "example.org"}, "example.org", ""},
		{serve{Listen: ":443", Cert: "none.pem", Key: key, Name: "example.org"}, "", "-cert none.pem, -key "},
		{serve{Listen: ":443", Cert: cert, Key: cert, Name: "example.org"}, "", "-cert "},
		{serve{Listen: "127.0.0.1:0", Name: "Console-1.example.org"}, "Console-1.example.org", ""},
		{serve{Listen: "127.0.0.1:0", Name: "::1"}, "::1", ""},
		{serve{Listen: "127.0.0.1:0", Name: "a b"}, "", `-name a b: give a host alone`},
		{serve{Listen: "127.0.0.1:0", Name: "http://a"}, "", `-name http://a: give a host alone`},
		{serve{Listen: "127.0.0.1:0", Name: "a:80"}, "", `-name a:80: give a host alone`},
		{serve{Listen: "127.0.0.1:0", Name: "exämple.org"}, "", "give a host alone"},
		{serve{Listen: "127.0.0.1:0", Name: "."}, "", "give a host alone"},
		{serve{Listen: "10.0.0.1:443", Cert: "c"}, "", "go together"},
		{serve{Listen: "nowhere"}, "", "give a host and a port"},
	} {
		host, err := one.s.check()
		assert.Equal(t, one.host, host, "%+v", one.s)
		if one.fault == "" {
			require.NoError(t, err, "%+v", one.s)
		} else {
			require.ErrorContains(t, err, one.fault, "%+v", one.s)
		}
	}
}

// Requests to a name that was given need no port: a proxy in front has another one, of which browsers say
// nothing.
func TestWhichHostsAreAnswered(t *testing.T) {
	assert.Equal(t, []string{"127.0.0.1:8377"}, hostsOf("127.0.0.1", "8377", false))
	assert.Equal(t, []string{"console.example.org:8377", "console.example.org"}, hostsOf("console.example.org", "8377", true))
	assert.Equal(t, []string{"[::1]:80", "[::1]"}, hostsOf("::1", "80", false))
}

// certificate writes a certificate and its key, and returns their files.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(block), 0o600))
	}
	return cert, key
}
