package result

import (
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/canon"
)

// Headers are a response's headers: names in lower case, several values of one name joined by ", ". Secrets
// are never in them.
type Headers map[string]string

// CleanHeaders makes Headers of an http.Header or its like. Names that hold secrets are left out:
// authorization and its kin, cookies, and every name with one of the words key, token, secret, password,
// credential. "tokens" is no such word: x-ratelimit-remaining-tokens stays.
func CleanHeaders(headers map[string][]string) Headers {
	if headers == nil {
		return nil
	}
	clean := Headers{}
	for _, name := range canon.Keys(headers) {
		clean.add(name, headers[name])
	}
	return clean
}

func (h Headers) add(name string, values []string) {
	lower := strings.ToLower(strings.TrimSpace(name))
	if lower == "" || secretHeader(lower) {
		return
	}
	value := strings.Join(values, ", ")
	if before, twice := h[lower]; twice {
		value = before + ", " + value
	}
	h[lower] = value
}

// clean returns h without secrets.
func (h Headers) clean() Headers {
	clean := Headers{}
	for _, name := range canon.Keys(h) {
		clean.add(name, []string{h[name]})
	}
	return clean
}

// secretWords make a header secret if its name has one of them.
var secretWords = []string{
	"authorization", "auth", "cookie", "cookie2", "key", "apikey", "token", "secret", "password", "passwd",
	"credential", "credentials", "bearer", "jwt",
}

// secretHeader reports whether a header with this lower-case name is secret.
func secretHeader(lower string) bool {
	words := strings.FieldsFunc(lower, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(secretWords, w) })
}

// secretMembers are the squashed names of members that are secret in any JSON. "token" and "key" are not
// among them, because they are also plain words.
var secretMembers = []string{
	"authorization", "proxyauthorization", "cookie", "setcookie", "apikey", "xapikey", "accesstoken",
	"refreshtoken", "idtoken", "authtoken", "bearertoken", "sessiontoken", "clientsecret", "secret",
	"secretkey",
	"secretaccesskey", "privatekey", "password", "passwd", "credentials",
}

// headerMembers are the names of members that hold headers.
var headerMembers = []string{"headers", "rawheaders", "responseheaders", "requestheaders", "header"}
