package report

// Page is a page of HTML, alone or within a server that shows other pages, too. The zero value stands alone.
type Page struct {
	// Home is the address of the page of all sessions; empty for none.
	Home string
	// Live is the address of a stream of server-sent events. At each event "change" the page takes up what is
	// new. Empty for a page that stays as it is.
	Live string
	// Scrub leaves out what has the form of a key or a password.
	Scrub bool
	// Says is what goes on in the session, in one sentence, and Answer the address where its questions are
	// answered; empty if it asks none.
	Says, Answer string
	// Say is the address to which a form posts a message for the run: its text, by, stop and reset. Empty for
	// none. By is the name that the form begins with, and Waiting are messages that the run has not taken
	// yet.
	Say, By string
	Waiting []string
	// Children finds the sessions of agents that are tools, which are shown with their calls; may be nil.
	Children Children
}

// Policy is the content security policy of the page, for a header: its own style sheet and scripts and, if it
// is live or has a form, connections and forms to its own server.
func (p Page) Policy() string {
	script, connect, form := sourceHash(pageJS), "", "'none'"
	if p.Live != "" {
		script, connect = script+" "+sourceHash(liveJS), "; connect-src 'self'"
	}
	if p.Say != "" {
		form = "'self'"
	}
	return "default-src 'none'; style-src " + sourceHash(pageCSS) + "; script-src " + script + connect +
		"; base-uri 'none'; form-action " + form
}
