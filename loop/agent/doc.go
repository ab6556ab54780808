// Package agent makes the runs of a whole agent under a policy, for orchestrators: errors are data in and
// out, in the envelopes of package result. [Retry] runs an agent until its result is accepted; [Envelope] is
// what a run of package loop came to.
package agent
