// Package agent makes the runs of a whole agent under a policy, for orchestrators: errors are data in and
// out, in the envelopes of package result. [Retry] runs an agent until its result is accepted; [Run] is a
// run of package loop with a full envelope, [Converse] one turn of a conversation, and [Envelope] what a run
// came to.
package agent
