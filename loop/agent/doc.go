// Package agent runs whole agents under a policy, for orchestrators. Errors are data, in the envelopes of
// package result. [Retry] runs an agent until its result is accepted. [Run] is Loop.Run with a full envelope,
// [Converse] is one turn of a conversation, and [Envelope] converts the result of a run.
package agent
