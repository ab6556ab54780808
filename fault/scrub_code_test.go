package fault_test

import (
	"testing"

	"github.com/retake-go/retake/fault"
)

func TestACodeOfAnAddressIsLeftOutAndTheWordOfAnErrorIsNot(t *testing.T) {
	for text, want := range map[string]string{
		"GET /v1?session=8f3a91c2d4 failed":          "GET /v1?session=[key left out] failed",
		"GET /cb?code=4/0AX4XfWh&state=a failed":     "GET /cb?code=[key left out]&state=a failed",
		"login with otp=482913 failed":               "login with otp=[key left out] failed",
		"redirected to /error?code=invalid_grant":    "redirected to /error?code=invalid_grant",
		"no page /talks?session=morning":             "no page /talks?session=morning",
		"otp=required, and the user has none as yet": "otp=required, and the user has none as yet",
		"the option otp_length: 100000 is too great": "the option otp_length: 100000 is too great",
	} {
		if got := fault.Scrub(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
