package temporal

import (
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// lastBeat returns the details of a heartbeat.
func lastBeat(p *commonpb.Payloads) (text string, ok bool) {
	if len(p.GetPayloads()) == 0 {
		return "", false
	}
	err := converter.GetDefaultDataConverter().FromPayloads(p, &text)
	return text, err == nil
}
