// Package inbox lets anyone answer the questions of runs that another process makes, and says which questions
// wait.
//
// It works on every store that tells of its journals and has an inbox: it reads journals without a lock, and
// puts items. The process that writes the journal takes them: within a second if the run is live, and when
// the run is resumed otherwise.
package inbox
