package loop

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/message"
)

// checkChoice reports what is wrong with ToolChoice. Engines that run the tools themselves do not call it,
// because they may know the tools only later.
func (c *Config) checkChoice() error {
	name := c.ToolChoice.Tool()
	if _, known := c.Tools.Get(name); name != "" && !known {
		return fmt.Errorf("tool_choice: there is no tool %q: name one of Tools (%s), or leave it empty",
			name, strings.Join(c.Tools.Names(), ", "))
	}
	if c.ToolChoice == message.AnyTool && len(c.Tools.All()) == 0 {
		return errors.New("tool_choice: there is no tool to call: give Tools, or leave it empty")
	}
	return nil
}

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
	return errors.Join(errs...)
}
