package report

import (
	"fmt"
	"time"

	"github.com/retake-go/retake/fault"
)

// Page is a page of HTML, alone or within a server that shows other pages, too. The zero value stands alone.
type Page struct {
	// Home is the address of the page of all sessions, and Inbox that of all questions; empty for none.
	Home, Inbox string
	// Live is the address of a stream of server-sent events. At each event "change" the page takes up what is
	// new. Empty for a page that stays as it is.
	Live string
	// Part is the address at which a part of the page is shown alone, but for the id at its end. A page of
	// many turns then has the texts of failures and of the last ones, and fetches others when they are
	// opened. Empty for a page that has all. Only is the id of the part that is shown alone; empty for all.
	Part, Only string
	// Raw is the address at which the lines of the journal are shown as they are, but for the number of the
	// first at its end; empty for none.
	Raw string
	// Last is when the latest event happened, and Now the time as of which the page is shown; zero if that is
	// not said.
	Last, Now time.Time
	// Scheme is "light" or "dark"; empty for what the browser prefers.
	Scheme string
	// Scrub leaves out what has the form of a key or a password.
	Scrub bool
	// Secrets are the places of values in the arguments of tools, by tool, that are left out, as
	// [schema.Schema.Secrets] gives them. Other texts may repeat such a value.
	Secrets map[string][]string
	// State is how the session is, in a word such as "waiting", and Says what goes on in it, in one sentence.
	// Answer is the address where its questions are answered; empty if it asks none.
	State, Says, Answer string
	// Say is the address to which a form posts a message for the run: its text, by, stop and reset. Empty for
	// none. By is the name that the form begins with, and Waiting are messages that the run has not taken
	// yet.
	Say, By string
	Waiting []string
	// Children finds the sessions of agents that are tools, which are shown with their calls; may be nil.
	Children Children
	// Around are the sessions in whose calls this one was made, the outermost first.
	Around []Crumb

	// prefix is before the ids of parts that are for the page of another session, and depth how many sessions
	// this one is in there.
	prefix string
	depth  int
}

// Crumb is a session, and the address of its page.
type Crumb struct{ Session, Link string }

// policyAt returns where the table of a policy is; empty if it is on no page.
func (p *Page) policyAt(run, n int) string {
	table := fmt.Sprintf("p%d", run)
	switch at := fmt.Sprintf("#%s-%d", table, n); {
	case p.prefix == "":
		return at
	case p.Part != "":
		return p.at(table) + at
	}
	return ""
}

// Policy returns the content security policy of the page, for a header: its own style sheet and scripts and,
// if it is live or has a form, connections and forms to its own server.
func (p Page) Policy() string {
	script, connect, form := sourceHash(pageJS), "", "'none'"
	if p.Live != "" || p.Part != "" {
		script, connect = script+" "+sourceHash(liveJS), "; connect-src 'self'"
	}
	if p.Say != "" {
		form = "'self'"
	}
	return "default-src 'none'; style-src " + sourceHash(pageCSS) + "; script-src " + script + connect +
		"; base-uri 'none'; form-action " + form
}

// scrub leaves out of a text what has the form of a key or a password, if the page does so.
func (p *Page) scrub(text string) string {
	if p.Scrub {
		return fault.ScrubText(text)
	}
	return text
}
