package kittest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// Server plays scripted responses, in order, and keeps the requests.
type Server struct {
	// URL is its address, without a slash at the end.
	URL string
	// Client is a client for the server. It keeps no connection, and reports bodies that were left
	// open.
	Client *http.Client

	t      testing.TB
	server *httptest.Server
	script []response
	open   atomic.Int64
	done   sync.Once

	mu     sync.Mutex
	seen   []string
	onHang func()
}

// Serve starts a server that plays raw responses in the form of the files. At the end of the test it fails
// if there were fewer or more requests, or if bodies were left open.
func Serve(t testing.TB, raw ...string) *Server {
	t.Helper()
	script := make([]response, len(raw))
	for n, text := range raw {
		var err error
		if script[n], err = parseResponse(text); err != nil {
			t.Fatalf("response %d: %v", n+1, err)
		}
	}
	return serve(t, script)
}

func serve(t testing.TB, script []response) *Server {
	s := &Server{t: t, script: script}
	s.server = httptest.NewServer(http.HandlerFunc(s.play))
	s.URL = s.server.URL
	s.Client = &http.Client{Transport: &watched{base: &http.Transport{DisableKeepAlives: true},
		open: &s.open}}
	t.Cleanup(s.finish)
	return s
}

// Requests returns the requests so far, in the form of the files.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}

// whenItHangs calls f after all of a hanging response is written; f cancels the caller's context.
func (s *Server) whenItHangs(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onHang = f
}

// finish stops the server and reports faults.
func (s *Server) finish() {
	s.done.Do(func() {
		if n := s.open.Load(); n != 0 {
			s.t.Errorf("%d response bodies were left open", n)
			s.server.CloseClientConnections()
		}
		s.server.Close()
		if got, want := len(s.Requests()), len(s.script); got < want {
			s.t.Errorf("%d requests came in, %d are scripted", got, want)
		}
	})
}

func (s *Server) play(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Errorf("reading the request: %v", err)
	}
	s.mu.Lock()
	n, hung := len(s.seen), s.onHang
	s.seen = append(s.seen, showRequest(r, body))
	s.mu.Unlock()
	if n >= len(s.script) {
		s.t.Errorf("request %d came in, %d are scripted", n+1, len(s.script))
		http.Error(w, "the script has ended", http.StatusTeapot)
		return
	}
	if err := s.script[n].write(w, r, hung); err != nil {
		s.t.Errorf("response %d: %v", n+1, err)
	}
}

func (p response) write(w http.ResponseWriter, r *http.Request, hung func()) error {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.WriteHeader(p.status)
	_, err := io.WriteString(w, p.body)
	if p.order == "" || err != nil {
		return err
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return err
	}
	if p.order == "cut" {
		panic(http.ErrAbortHandler) // it closes the connection within the transfer
	}
	if hung != nil {
		hung()
	}
	<-r.Context().Done()
	return nil
}

// watched counts open bodies.
type watched struct {
	base http.RoundTripper
	open *atomic.Int64
}

func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.base.RoundTrip(r)
	if err == nil {
		w.open.Add(1)
		resp.Body = &watchedBody{ReadCloser: resp.Body, open: w.open}
	}
	return resp, err
}

type watchedBody struct {
	io.ReadCloser
	open *atomic.Int64
	once sync.Once
}

func (b *watchedBody) Close() error {
	b.once.Do(func() { b.open.Add(-1) })
	return b.ReadCloser.Close()
}
