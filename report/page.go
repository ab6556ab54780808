package report

import (
	"fmt"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/report/internal/served"
)

// page is a page of HTML, alone or within a server.
type page struct {
	served.Page
	// prefix is before the ids of parts that are for the page of another session, and depth how many sessions
	// this one is in there.
	prefix string
	depth  int
}

// policyAt is where the table of a policy is; empty if it is on no page.
func (p *page) policyAt(run, n int) string {
	table := fmt.Sprintf("p%d", run)
	switch at := fmt.Sprintf("#%s-%d", table, n); {
	case p.prefix == "":
		return at
	case p.Part != "":
		return p.at(table) + at
	}
	return ""
}

// policy is the content security policy of the page: its own style sheet and scripts and, if it is live or
// has a form, connections and forms to its own server.
func (p *page) policy() string {
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
func (p *page) scrub(text string) string {
	if p.Scrub {
		return fault.ScrubText(text)
	}
	return text
}
