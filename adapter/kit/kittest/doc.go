// Package kittest tests an adapter to a model's API over loopback, as journaltest tests a store: without
// waiting and without a key.
//
//	func TestAdapter(t *testing.T) {
//		kittest.Run(t, kittest.Config{
//			New:   func(url string, client *http.Client) (loop.Model, error) { … },
//			Whole: []string{`{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}`},
//		})
//	}
//
// [Run] has a subtest for each duty of an adapter:
//
//	requests   any transcript makes one request, strict JSON that the API accepts, the same each time
//	shortened  a prompt that was made shorter is accepted, and all of its words are sent
//	bounds     a request's bound on the reply is sent, or the model says that it cannot; it names itself
//	replies    a good reply is read by what it is, whatever its head says, and streamed if asked for
//	bodies     a good response without a reply is an error of one class
//	errors     a refusal is an error of its class with its rate limits, and nothing is asked twice
//	cuts       a response that breaks, over HTTP/1.1 or HTTP/2, is of class network
//	every cut  so is each good response of the scripts that is cut anywhere, and it is no reply
//	redirects  the key goes to no other host, port or scheme
//	keys       a key that a server repeats is in no error, failure or journal
//	wire       scripts of one call: golden requests and outcomes
//	story      scripts of a whole run: the session is the same for every provider
//
// The last two, and every cut, need [Config].Scripts. `go test . -args -rewrite` rewrites their golden
// sections: check the diff, and commit only what you understand. [Serve] plays responses for other tests.
//
// # Files
//
// A file is a txtar archive. Its comment tells the story and is required. -rewrite writes the sections marked
// as golden:
//
//	-- ask --           JSON, see below; of a story only {"stream": true} or nothing
//	-- request-1 --     golden: method and path, headers, an empty line, the body
//	-- response-1 --    what the server answers: status line, headers, an empty line, the body
//	-- request-2 --     …as many as there are
//	-- outcome --       golden: what Reply returned, as JSON; not in a story
//
// A response is raw text. Its body is everything after the first empty line, with the last newline:
//
//	429 Too Many Requests
//	Content-Type: application/json
//	Retry-After: 2
//
//	{"error": {"type": "rate_limit_error"}}
//
// The header X-Kittest is a command for the server, and is not sent. "cut" closes the connection after the
// body, in the middle of the transfer. "hang" never ends the body, and cancels the caller's context after all
// of it is written. It is chance how much of it a client has read by then, so the outcome of a hang has
// neither the error's text nor deltas, and errors.Is(err, context.Canceled) must hold.
//
// The test fails if there are more or fewer requests than scripted, if a response body is left open, if a key
// is in an error's text, if there is more of a reply beside an error than its source, if the deltas do not
// add up to the reply, if the adapter changes a request, and if two calls have the same id.
//
// Golden requests leave out headers that differ between runs or machines.
// [Key] is "redacted". A JSON body is indented, with its members in the order in which they were sent.
//
// # Asks
//
//	{"ask": "tools", "stream": true}
//
// ask is one of [Asks]. The other members replace parts of it:
//
//	system    text
//	messages  a list of message.Message
//	tools     names: book_room, hotel.find
//	tool_choice, stop  as in the request
//	output    a JSON Schema; null for none
//	stream    whether to ask for a stream; the deltas are then part of the outcome
//
// # Cases
//
// There is a file for each case that every adapter must have ([Run] names those that are missing), and each
// outcome must contain what the case is about besides its golden. Other files are allowed. [Config].Without
// has the cases that are impossible with a provider, with the reason.
//
// # Stories
//
// All stories are the same: "Two nights in Lisbon and three in Porto, please.", on a clock on which every
// wait ends at once. The script replies in the provider's form:
//
//	1  book_room c1 {"city":"Lisbon","nights":2,"room":"double"} and c2 {"city":"Porto","nights":"three"};  100 tokens in, 20 out
//	2  book_room c3 {"city":"Porto","nights":3,"room":"double"};  150 tokens in, 15 out
//	3  "Booked: R-lisbon-2 and R-porto-3.";  180 tokens in, 12 out
//
// The session must then be the same to the byte for every provider: testdata/snapshot.json of this package.
package kittest
