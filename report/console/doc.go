// Package console shows the sessions of stores in a browser, live: a list of all sessions, each with one
// sentence that says what goes on and what will unblock it, the page of each session, an inbox of what waits
// for a person, and an API for scripts.
//
// It reads journals that other processes write, and takes no lock. Answers to questions and messages to runs
// are checked and put into the inboxes of the stores; it writes nothing else. It polls only while somebody
// looks.
//
// A [Console] is an [net/http.Handler]. It may stand below a path, with [net/http.StripPrefix]. With
// [Settings.Token] every path needs the token; without one, who may see the sessions is up to the server that
// it is mounted in. Everything that a model, a tool or a user may have written is escaped, and the content
// security policy allows nothing but the console's own style sheets and scripts. All of it works without
// script, except that nothing moves.
package console
