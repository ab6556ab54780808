package loop

import (
	"errors"
	"fmt"
	"slices"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// checkChoice reports what is wrong with ToolChoice. Engines that run the tools themselves do not call it,
// because they may know the tools only later.
func (c *Config) checkChoice() error { return c.offer().CheckChoice(c.ToolChoice) }

// checkRequest reports what is wrong with the stop sequences and the media.
func (c *Config) checkRequest() error {
	var errs []error
	if slices.Contains(c.Stop, "") {
		errs = append(errs, fmt.Errorf("stop[%d]: is empty: remove it", slices.Index(c.Stop, "")))
	}
	if err := message.ValidateParts(c.Attach); err != nil {
		errs = append(errs, fmt.Errorf("attach%w", err))
	}
	if err := message.Validate(c.History); err != nil {
		errs = append(errs, fmt.Errorf("history%w", err))
	}
	if err := session.Unanswered(c.History); err != nil {
		errs = append(errs, fmt.Errorf("history: %w", err))
	}
	return errors.Join(errs...)
}
