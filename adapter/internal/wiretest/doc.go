// Package wiretest holds a provider adapter to what it sends and to what it makes of the answers: over
// loopback, from scripts, without waiting and without a key.
//
//	func adapter() wiretest.Adapter {
//		return wiretest.Adapter{New: func(url string, client *http.Client) (loop.Model, error) { … }}
//	}
//	func TestWire(t *testing.T)  { wiretest.Run(t, "testdata/wire", adapter()) }
//	func TestStory(t *testing.T) { wiretest.Story(t, "testdata/story", adapter()) }
//
// [Run] makes one call of Reply for each *.txtar file of a directory; [Story] makes a whole run of the loop
// for each. `go test . -args -rewrite` writes the golden sections anew: read the diff, and commit only what
// you understand. [Serve] plays responses for tests of other shapes.
//
// # Files
//
// A file is a txtar archive. Its comment tells the story; it may not be missing. Its sections, of which those
// marked golden are written by -rewrite:
//
//	-- ask --           JSON, see below; of a story only {"stream": true} or nothing
//	-- request-1 --     golden: method and path, headers, an empty line, the body
//	-- response-1 --    what the server answers: status line, headers, an empty line, the body
//	-- request-2 --     …as many as there are
//	-- outcome --       golden: what Reply returned, as JSON; not in a story
//
// A response is raw text, its body everything after the first empty line, the last newline included:
//
//	429 Too Many Requests
//	Content-Type: application/json
//	Retry-After: 2
//
//	{"error": {"type": "rate_limit_error"}}
//
// A header X-Wiretest is an order to the server, and not sent: "cut" closes the connection after the body, in
// the middle of the transfer; "hang" never ends the body, and cancels the caller's context once all of it is
// written. How much of it a client then has read is chance: of a hang the outcome names neither the error's
// text nor deltas, and errors.Is(err, context.Canceled) must hold.
//
// A request more or fewer than scripted fails the test. So does a response body that is left open, a key in
// an error's text, a reply beside an error, deltas that do not add up to the reply, a request that was
// changed, and calls with the same id.
//
// In a golden request, headers that change from run to run or machine to machine are left out
// ([Adapter].Volatile adds to them), [Key] is "redacted", and a JSON body is indented, its members in the
// order they were sent in.
//
// # Asks
//
//	{"ask": "tools", "stream": true}
//
// ask is one of [Asks]; the other members replace what it says:
//
//	system    text
//	messages  a list of message.Message
//	tools     names: book_room, hotel.find
//	tool_choice, stop  as in the request
//	output    a JSON Schema; null for none
//	stream    whether a stream is asked for; the deltas are then part of the outcome
//
// # Cases
//
// [Cases] lists the files every adapter must have, and what is looked for in each outcome beside its golden.
// Any other file is welcome. A case that a provider cannot have is excused by [Adapter].Without, with the
// reason.
//
// # Stories
//
// All stories tell the same: "Two nights in Lisbon and three in Porto, please.", on a clock on which no wait
// takes time. The script replies, in the provider's form:
//
//	1  book_room c1 {"city":"Lisbon","nights":2,"room":"double"} and c2 {"city":"Porto","nights":"three"};  100 tokens in, 20 out
//	2  book_room c3 {"city":"Porto","nights":3,"room":"double"};  150 tokens in, 15 out
//	3  "Booked: R-lisbon-2 and R-porto-3.";  180 tokens in, 12 out
//
// The session must then be the same to the byte, whatever the provider: [StorySnapshot].
package wiretest
