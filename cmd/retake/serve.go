package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/report/console"
)

var serveCommand = command{
	name:    "serve",
	summary: "shows all sessions of stores in a browser, live",
	example: "retake serve runs/",
	usage: []string{
		"serve [-listen ADDRESS] [-cert FILE -key FILE] [-insecure-listen] [-name HOST] [-token FILE] [-show-secrets] " +
			"STORE...",
	},
	about: `
Serves a page with all sessions, the page of each session, and an inbox of what waits for a person, where it
is answered. A STORE is a folder of journals, a SQLite database, or a PostgreSQL database of
adapter/postgres by its address, postgres://USER@HOST/NAME. Journals are read while other processes write
them; no lock is taken. The limits that processes share in a database have a page of their own.

The first line on standard output is the address to open. It holds a token of 128 random bits, and without
it every request is answered with status 403; the browser keeps it in a cookie. It is new at each start:
-token reads one that stays, which is not printed. Only this machine is listened to. Another -listen is
refused without a certificate, because the token would be sent in the clear; -insecure-listen does it all the
same. Only requests with the name that is listened on are answered; -name gives it where -listen does not, or
a proxy has another one.

What has the form of a key or a password is left out of the pages; -show-secrets shows it, and the lines of
journals as they are.

For scripts, GET /api/sessions with the header "Authorization: Bearer TOKEN" answers {"sessions": [{"id",
"state", "why", "until", "in_doubt", "turns", "tokens", "cost_micros", "since", "last", "store", "damaged",
"inside"}]}. The states are asking, interrupted, failed, running, waiting and done. The query q, state, doubt, retry, wait,
model, tool, class, end, store, age and inside filter as on the page.

It serves until an interrupt.`,
	task: func() task { return &serve{Listen: "127.0.0.1:0"} },
}

// serve is one call of the command.
type serve struct {
	stores
	Listen         string `flag:"listen ADDRESS" help:"listen on ADDRESS, such as 127.0.0.1:8080; port 0 is any free one"`
	Cert           string `flag:"cert FILE" help:"serve HTTPS with the certificate in FILE, as PEM"`
	Key            string `flag:"key FILE" help:"the key of the certificate, in FILE"`
	Name           string `flag:"name HOST" help:"answer requests to HOST alone, by default that of -listen"`
	Token          string `flag:"token FILE" help:"the token, in FILE: 16 or more letters, digits, - and _; by default a new one"`
	InsecureListen bool   `flag:"insecure-listen" help:"listen on other addresses without a certificate"`
	ShowSecrets    bool   `flag:"show-secrets" help:"show what has the form of a key or a password, too"`
}

func (s *serve) run(e *env) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return s.until(ctx, e)
}

// until serves until the context ends.
func (s *serve) until(ctx context.Context, e *env) error {
	host, err := s.check()
	if err != nil {
		return err
	}
	token, query, err := s.token()
	if err != nil {
		return err
	}
	stores, limits, err := e.openStores(s.names)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Listen)
	if err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	port := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
	settings := console.Settings{
		Stores: stores, Token: token, Hosts: hostsOf(host, port, s.Name != ""),
		Secure: s.Cert != "", ShowSecrets: s.ShowSecrets,
	}
	if len(limits) > 0 {
		settings.Limits = limits
	}
	c, err := console.New(settings)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	page := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: "/", RawQuery: query}
	if s.Cert != "" {
		page.Scheme = "https"
	}
	e.println(page.String())
	if err := e.out.Flush(); err != nil {
		return errors.Join(err, listener.Close())
	}
	return s.serve(ctx, listener, c)
}

// token returns the token, and the query of the address to open, which has none that was given.
func (s *serve) token() (token, query string, err error) {
	if s.Token == "" {
		token = console.NewToken()
		return token, url.Values{"token": {token}}.Encode(), nil
	}
	text, err := readPlaced("-token", s.Token)
	if err != nil {
		return "", "", err
	}
	if token = strings.TrimSpace(string(text)); !isToken.MatchString(token) {
		return "", "", misused("-token %s: it is no token: write 16 or more letters, digits, - and _", s.Token)
	}
	return token, "", nil
}

// isToken matches what cookies and addresses can have as it is.
var isToken = regexp.MustCompile(`^[A-Za-z0-9_-]{16,}$`)

// patience is how long the server waits for the body of a request, and for each text that it writes to be
// taken.
const patience = time.Minute

// patient gives up requests that do not come and answers that nobody takes, so that they hold no connection.
func patient(h http.Handler, patience time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := patientWriter{w, http.NewResponseController(w), patience}
		if r.ContentLength != 0 {
			_ = p.of.SetReadDeadline(time.Now().Add(patience)) // that of the next request is another
		}
		p.wait()
		h.ServeHTTP(p, r)
	})
}

type patientWriter struct {
	http.ResponseWriter
	of       *http.ResponseController
	patience time.Duration
}

// wait says how long the next text may take. It is sent after the rest of the request was waited for.
func (p patientWriter) wait() { _ = p.of.SetWriteDeadline(time.Now().Add(2 * p.patience)) }

// Write implements [http.ResponseWriter].
func (p patientWriter) Write(text []byte) (int, error) {
	p.wait()
	return p.ResponseWriter.Write(text)
}

// Unwrap is for an [http.ResponseController].
func (p patientWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// serve answers requests until the context ends.
func (s *serve) serve(ctx context.Context, listener net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: patient(h, patience), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10, IdleTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() {
		if s.Cert != "" {
			ended <- server.ServeTLS(listener, s.Cert, s.Key)
		} else {
			ended <- server.Serve(listener)
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return server.Close()
	}
}

// check checks the flags, and returns the host of the address to open.
func (s *serve) check() (host string, err error) {
	host, _, err = net.SplitHostPort(s.Listen)
	if err != nil {
		return "", misused("-listen %q: give a host and a port, such as 127.0.0.1:8080", s.Listen)
	}
	if (s.Cert == "") != (s.Key == "") {
		return "", misused("-cert and -key go together: give both")
	}
	if s.Cert != "" {
		if _, err := tls.LoadX509KeyPair(s.Cert, s.Key); err != nil {
			return "", misused("-cert %s, -key %s: %w", s.Cert, s.Key, err)
		}
	}
	ip := net.ParseIP(host)
	isLocal := host == "localhost" || ip != nil && ip.IsLoopback()
	if !isLocal && s.Cert == "" && !s.InsecureListen {
		return "", misused("-listen %s: others could reach it, and the token would be sent in the clear: "+
			"give -cert and -key, or -insecure-listen to do so all the same", s.Listen)
	}
	if s.Name != "" && !isHost(s.Name) {
		return "", misused("-name %s: give a host alone, such as console.example.org", s.Name)
	}
	if s.Name != "" {
		return s.Name, nil
	}
	if host == "" || ip != nil && ip.IsUnspecified() {
		return "", misused("-listen %s: it has no name: say with -name under which it is opened", s.Listen)
	}
	return host, nil
}

// isHost reports whether a name can be that of a host in a request.
func isHost(name string) bool {
	isOther := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._", r))
	}
	return net.ParseIP(name) != nil || strings.Trim(name, ".") != "" && !strings.ContainsFunc(name, isOther)
}

// hostsOf returns the values of the header Host that are answered. A name that was given may be that of a
// proxy, whose port is the usual one.
func hostsOf(host, port string, given bool) []string {
	hosts := []string{net.JoinHostPort(host, port)}
	if given || port == "80" || port == "443" {
		hosts = append(hosts, strings.TrimSuffix(net.JoinHostPort(host, ""), ":"))
	}
	return hosts
}

// openStores opens stores so that questions can be answered, or else for reading alone. Those that are
// databases are returned a second time, for their limits.
func (e *env) openStores(names []string) (all []console.Named, limits databases, err error) {
	for _, name := range names {
		var store inbox.Store = journal.Dir(name)
		if isDatabase(name) {
			db, err := e.database(name, toWrite)
			if err != nil {
				db, err = e.database(name, toRead)
			}
			if err != nil {
				return nil, nil, unreadableDatabase(name, err)
			}
			store, limits = db, append(limits, namedDB{shown(name), db})
		}
		if store, err = e.sealing(store); err != nil {
			return nil, nil, err
		}
		all = append(all, console.Named{Name: shown(name), Store: store})
	}
	return all, limits, nil
}
