package result

// Status says how far a result is. The zero value is invalid.
type Status string

// The statuses, as result envelopes write them.
const (
	StatusSuccess    Status = "success"
	StatusError      Status = "error"
	StatusInProgress Status = "in-progress"
)
