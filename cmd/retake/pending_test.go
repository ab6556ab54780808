package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// Who looks an hour after a question was asked is told how long there still is.
func TestAQuestionSaysHowLongThereStillIs(t *testing.T) {
	began := time.Date(2030, 1, 1, 9, 0, 0, 0, time.FixedZone("", 3600))
	q := &inbox.Question{Ask: machine.Ask{Tool: "pay", Rule: policy.ApproveAlways, At: began, Deadline: began.Add(64 * time.Minute),
		Default: machine.Refuse, Arguments: json.RawMessage(`{"cents":500}`)}}
	assert.Equal(t, `approve pay (always), until 2030-01-01 09:04:00 UTC (4m00s left), else refuse: {"cents":500}`, asked(q, began.Add(time.Hour)))
	q.Deadline = time.Time{}
	assert.Equal(t, `approve pay (always): {"cents":500}`, asked(q, began))
}

// A terminal is no place for what the tool marks as secret. Who answers by a script reads all of it.
func TestAQuestionIsPrintedWithoutSecrets(t *testing.T) {
	q := &inbox.Question{Ask: machine.Ask{Tool: "pay", Rule: policy.ApproveAlways, Arguments: json.RawMessage(`{"to":{"iban":"DE89"},"cents":500}`)}}
	q.Schema = json.RawMessage(`{"properties": {"to": {"properties": {"iban": {"type": "string", "x-secret": true}}}}}`)
	assert.Equal(t, `approve pay (always): {"to":{"iban":"[secret]"},"cents":500}`, asked(q, time.Time{}))
	assert.JSONEq(t, `{"to":{"iban":"DE89"},"cents":500}`, string(pendingOf(q).Arguments))
}
