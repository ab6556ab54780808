// Package agent runs whole agents under a policy, for orchestrators. [AsTool] makes an agent a tool of
// another one, and [Handoff] one that answers for it. [Retry] runs an agent until its result is accepted;
// errors are data, in the envelopes of package result. [Run] is Loop.Run with a full envelope, [Converse]
// is one turn of a conversation, and [Envelope] converts the result of a run.
package agent
