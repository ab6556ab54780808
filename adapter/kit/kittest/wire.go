package kittest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
)

// response is one scripted response.
type response struct {
	status int
	header http.Header
	body   string
	// order is what the server does besides answering: "cut", "hang" or nothing.
	order string
}

// parseResponse reads status line, headers, an empty line and the body.
func parseResponse(raw string) (response, error) {
	first, rest, _ := strings.Cut(raw, "\n")
	fields := strings.Fields(strings.TrimPrefix(first, "HTTP/1.1 "))
	if len(fields) == 0 {
		return response{}, fmt.Errorf(`the first line must be a status such as "200 OK"; it is %q`, first)
	}
	status, err := strconv.Atoi(fields[0])
	if err != nil || status < 200 || status > 599 {
		return response{}, fmt.Errorf(`the first line must be a status such as "200 OK"; it is %q`, first)
	}
	r := bufio.NewReader(strings.NewReader(rest))
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil && err != io.EOF {
		return response{}, fmt.Errorf("headers: %w", err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		return response{}, err
	}
	p := response{status: status, header: http.Header(header), body: string(body)}
	p.order = p.header.Get("X-Kittest")
	p.header.Del("X-Kittest")
	if p.order != "" && p.order != "cut" && p.order != "hang" {
		return response{}, fmt.Errorf("X-Kittest: must be cut or hang, is %q", p.order)
	}
	return p, nil
}

// volatile are headers that differ between runs, machines and versions, or that belong to the connection. A
// name that ends in "-" means all with that prefix.
var volatile = []string{
	"accept-encoding", "connection", "content-length", "transfer-encoding", "user-agent", "idempotency-key",
	"x-stainless-",
	"x-goog-api-client", "x-server-timeout", "traceparent",
}

// telling are exceptions from volatile.
var telling = []string{"x-stainless-retry-count"}

func isVolatile(name string) bool {
	name = strings.ToLower(name)
	return !slices.Contains(telling, name) && slices.ContainsFunc(volatile, func(v string) bool {
		return name == v || strings.HasSuffix(v, "-") && strings.HasPrefix(name, v)
	})
}

// showRequest writes a request in the form of the files.
func showRequest(r *http.Request, body []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL.RequestURI())
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if isVolatile(name) {
			continue
		}
		for _, value := range r.Header[name] {
			fmt.Fprintf(&b, "%s: %s\n", strings.ToLower(name), value)
		}
	}
	var indented bytes.Buffer
	if json.Indent(&indented, bytes.TrimSpace(body), "", "  ") == nil {
		body = indented.Bytes()
	}
	fmt.Fprintf(&b, "\n%s\n", body)
	return strings.ReplaceAll(b.String(), Key, "redacted")
}
