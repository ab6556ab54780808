package console

import (
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/report/internal/look"
)

// Settings configure a [Console].
type Settings struct {
	// Stores are what is shown; at least one. Names must differ, and may be empty for a single store.
	Stores []Named
	// Limits is a limiter of this process whose scopes are shown; nil for none.
	Limits Limits
	// Token locks the console: every path needs it, as the query "token", as the cookie that takes its place,
	// or as the header "Authorization: Bearer TOKEN". Empty leaves the lock to the server that the console is
	// mounted in. It is in no JSON form and in nothing that package fmt prints.
	Token string `json:"-"`
	// Hosts are the only values of the header Host that are answered, so that no name of another site leads
	// here. Empty answers all.
	Hosts []string
	// ShowSecrets shows what has the form of a key or a password, and the lines of journals as they are. They
	// are left out otherwise.
	ShowSecrets bool
	// Secure sets cookies for HTTPS alone. So are those of requests that came by TLS, or by a proxy whose
	// header X-Forwarded-Proto says so.
	Secure bool
	// Clock is the clock; nil means that of the system.
	Clock loop.Clock
}

// Format implements [fmt.Formatter]: no log has the token.
func (s Settings) Format(to fmt.State, verb rune) {
	type shown Settings
	if s.Token != "" {
		s.Token = "[key left out]"
	}
	fmt.Fprintf(to, fmt.FormatString(to, verb), shown(s))
}

// Validate reports all faults of the settings, joined.
func (s Settings) Validate() error {
	var faults []error
	if len(s.Stores) == 0 {
		faults = append(faults, errors.New("stores: give at least one"))
	}
	names := map[string]bool{}
	for n, named := range s.Stores {
		if named.Store == nil {
			faults = append(faults, fmt.Errorf("stores[%d]: the store is nil", n))
		}
		if names[named.Name] {
			faults = append(faults, fmt.Errorf("stores[%d].name: %q is there twice", n, named.Name))
		}
		names[named.Name] = true
	}
	if s.Token != "" && len(s.Token) < minToken {
		faults = append(faults, fmt.Errorf("token: has %d characters, %d are needed", len(s.Token), minToken))
	}
	return errors.Join(faults...)
}

// minToken is the fewest characters of a token.
const minToken = 16

// NewToken returns a token of 130 random bits.
func NewToken() string { return rand.Text() }

// Console is a handler that shows sessions. It is safe for concurrent use.
type Console struct {
	scrubber
	settings Settings
	watch    *watcher
	clock    loop.Clock
	routes   *http.ServeMux
	posts    *http.CrossOriginProtection
	// streams counts those that are open.
	streams atomic.Int64
}

//go:embed console.css
var styles string

//go:embed console.js
var script string

//go:embed console.html
var pagesText string

var pages = template.Must(template.New("").Parse(pagesText))

// New returns a console. The error is that of [Settings.Validate].
func New(s Settings) (*Console, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	c := &Console{scrubber: scrubber{s.ShowSecrets}, settings: s, clock: s.Clock, routes: http.NewServeMux(),
		posts: http.NewCrossOriginProtection()}
	if c.clock == nil {
		c.clock = system{}
	}
	c.watch = &watcher{stores: s.Stores, scrubber: c.scrubber, clock: c.clock,
		readings: make([]reading, len(s.Stores)), sessions: map[key]*watched{}, digested: map[key]string{}}
	c.routes.HandleFunc("GET /console.css", c.css)
	c.routes.HandleFunc("GET /console.js", func(w http.ResponseWriter, _ *http.Request) {
		write(w, "text/javascript", look.JS+script)
	})
	c.routes.HandleFunc("GET /{$}", c.list)
	if s.Limits != nil {
		c.routes.HandleFunc("GET /limits", c.limits)
	}
	c.routes.HandleFunc("GET /events", c.events)
	c.routes.HandleFunc("GET /session", c.session)
	if s.ShowSecrets {
		c.routes.HandleFunc("GET /lines", c.lines)
	}
	c.routes.HandleFunc("GET /inbox", c.inbox)
	c.routes.HandleFunc("POST /answer", c.answer)
	c.routes.HandleFunc("POST /say", c.say)
	c.routes.HandleFunc("POST /scheme", c.scheme)
	c.routes.HandleFunc("GET /api/sessions", c.api)
	return c, nil
}

// Format implements [fmt.Formatter]: no log has the token.
func (c *Console) Format(to fmt.State, _ rune) { fmt.Fprint(to, "console") }

// system is the clock of the system.
type system struct{}

func (system) Now() time.Time                         { return time.Now() }
func (system) After(d time.Duration) <-chan time.Time { return time.After(d) }

// policyOfPages is the content security policy of the console's own pages.
const policyOfPages = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
	"img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP checks the host, the token and the origin, in this order, before anything else.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policyOfPages)
	h.Set("Referrer-Policy", "same-origin") // with none at all, browsers hide the origin of forms
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case !c.isHost(r.Host):
		refuse(w, "This console has another name. Open the address that retake serve printed.")
	case !c.isAllowed(r):
		refuse(w, "The token is missing or wrong. Open the address that retake serve printed, or one with ?token= and yours.")
	case c.posts.Check(r) != nil:
		refuse(w, "This request comes from another site.")
	case c.settings.Token != "" && r.URL.Query().Has(tokenParam):
		c.swap(w, r)
	default:
		c.routes.ServeHTTP(w, r)
	}
}

// refuse answers with status 403.
func refuse(w http.ResponseWriter, why string) { http.Error(w, why, http.StatusForbidden) }

func (c *Console) isHost(host string) bool {
	hosts := c.settings.Hosts
	return len(hosts) == 0 || slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

const tokenParam = "token"

// cookieName returns the name of the cookie with the token. Browsers share cookies between the ports of a
// host.
func cookieName(r *http.Request) string {
	_, port, _ := strings.Cut(r.Host[strings.LastIndexByte(r.Host, ']')+1:], ":")
	return "retake" + port
}

// isAllowed reports whether a request has the token.
func (c *Console) isAllowed(r *http.Request) bool {
	if c.settings.Token == "" {
		return true
	}
	if given := r.URL.Query().Get(tokenParam); given != "" {
		return c.isToken(given)
	}
	if given, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); is && c.isToken(given) {
		return true // else it may be that of a proxy in front
	}
	// Other servers of the same host may have set cookies of the same name, which come first.
	return slices.ContainsFunc(r.CookiesNamed(cookieName(r)), func(k *http.Cookie) bool { return c.isToken(k.Value) })
}

// isToken compares in constant time.
func (c *Console) isToken(given string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(c.settings.Token)) == 1
}

// swap puts the token into a cookie and leads to the same page without it. Scripts may leave the token in the
// query: who does not ask for a page is answered at once.
func (c *Console) swap(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: c.settings.Token, Path: "/", HttpOnly: true, Secure: c.isSecure(r),
		SameSite: http.SameSiteLaxMode, // a link from a ticket leads here; what it gets changes nothing
	})
	if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		c.routes.ServeHTTP(w, r)
		return
	}
	query := r.URL.Query()
	query.Del(tokenParam)
	to := url.URL{Path: "./" + strings.TrimPrefix(path.Base("/"+r.URL.Path), "/"), RawQuery: query.Encode()}
	lead(w, to.String())
}

// lead leads to another page, by an address that holds below any path at which the console is mounted.
func lead(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

// isSecure reports whether cookies are for HTTPS alone. A browser that is told so in error loses its own
// alone.
func (c *Console) isSecure(r *http.Request) bool {
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",") // each proxy adds its own
	return c.settings.Secure || r.TLS != nil || strings.EqualFold(strings.TrimSpace(first), "https")
}

// write writes a text.
func write(w http.ResponseWriter, kind, text string) {
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	_, _ = io.WriteString(w, text)
}

// show writes a page.
func show(w http.ResponseWriter, status int, name string, view any) {
	var page strings.Builder
	if err := pages.ExecuteTemplate(&page, name, view); err != nil {
		http.Error(w, "the page cannot be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, page.String())
}
