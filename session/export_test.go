package session

// Resume is Restore for a state.
var Resume = resume
