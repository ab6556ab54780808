package loop

import (
	"fmt"
	"slices"
)

// checkChoice reports what is wrong with ToolChoice. Engines that run the tools themselves do not call it,
// because they may know the tools only later.
func (c *Config) checkChoice() error { return c.offer().CheckChoice(c.ToolChoice) }

// checkStop reports an empty stop sequence.
func (c *Config) checkStop() error {
	if n := slices.Index(c.Stop, ""); n >= 0 {
		return fmt.Errorf("stop[%d]: is empty: remove it", n)
	}
	return nil
}
