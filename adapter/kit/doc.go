// Package kit is what an adapter to a model's HTTP API needs beside the API's own form. With it an adapter of
// one's own is a few small functions: docs/guides/adapters.md builds one.
//
// A request:
//
//   - [Rules] put any transcript, of any provider, into the order that APIs want: every call answered, right
//     after the message that made it, under ids and names that the API accepts ([Exchange], [Call]).
//   - [Arguments] make an object of what a model wrote, and [CheckMedia] refuses what the API does not accept.
//   - [Downgrade] converts a JSON Schema to what an API knows of it ([Dialect]).
//   - [Unasked] is the error of a request that the API cannot carry out. Nothing is dropped in silence.
//
// A response:
//
//   - [Head] sends a request, bounds what is read, keeps the key out of errors and refuses replies from
//     elsewhere ([Head.Post], or [SendBy] with the client of an SDK; [Guarded] makes a client that follows
//     no redirect to elsewhere).
//   - [Events], [ReadWhole] and [Pieces] read streams and bodies, also those that are cut, unasked for or in
//     another form than their head says ([Form]).
//   - [NameCalls] gives calls their ids, and [TellWhole] streams what came whole.
//   - [Head.Fail] makes an [Error] of whatever went wrong: classified, within the rate limits of its response.
//
// [Object], [List], [Quote] and the others write JSON whose members keep their order. [Faults] checks a
// configuration, and [KeepOpaque] keeps what only the model that made it can read.
//
// Package chat is a model on OpenAI's APIs, and package claude one on Anthropic's, made of all this. Package
// kittest tests an adapter against loopback servers, as journaltest tests a store. Package turns is the kit
// of runtimes that call models and run tools themselves.
//
// Everything is safe for concurrent use except [Head], [Pieces] and [Extras], which belong to one request,
// and [Faults], which belongs to one check.
package kit
