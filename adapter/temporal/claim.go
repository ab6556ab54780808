package temporal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"github.com/retake-go/retake/loop/degrade"
)

// DefaultClaim is the size in bytes above which [ClaimCheck] keeps what is sent in the store, where 0 is
// given.
const DefaultClaim = 64 << 10

// claimEncoding marks what stands in a store.
const claimEncoding = "binary/retake-claim"

// ClaimCheck is a data converter that keeps what is larger than some bytes in a store, and sends its name. It
// goes into the DataConverter of the client.Options of those who start runs and of those who work on them;
// then [Worker].MaxPayload and [Options].MaxPayload may be [policy.Unlimited]. parent does all else; nil for
// the engine's own. over is the size in bytes; 0 means [DefaultClaim].
//
// What was kept is named by its content, and kept as long as the store keeps it: longer than the server keeps
// histories.
func ClaimCheck(parent converter.DataConverter, store degrade.Storage, over int) converter.DataConverter {
	if parent == nil {
		parent = converter.GetDefaultDataConverter()
	}
	if over == 0 {
		over = DefaultClaim
	}
	return converter.NewCodecDataConverter(parent, &claims{store, over})
}

type claims struct {
	store degrade.Storage
	over  int
}

// Encode keeps what is large.
func (c *claims) Encode(all []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(all))
	for n, p := range all {
		if out[n] = p; len(p.GetData()) <= c.over {
			continue
		}
		doc, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(doc)
		name := "retake/payload/" + hex.EncodeToString(sum[:])
		if err := c.store.Save(context.Background(), name, doc); err != nil {
			// The engine would begin the call again, which may have been paid for.
			text := fmt.Sprintf("temporal: keeping a payload of %d bytes: %v", len(doc), err)
			return nil, sdk.NewNonRetryableApplicationError(text, "ClaimCheck", err)
		}
		out[n] = &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(claimEncoding)}, Data: []byte(name)}
	}
	return out, nil
}

// Decode fetches what was kept.
func (c *claims) Decode(all []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(all))
	for n, p := range all {
		if out[n] = p; string(p.GetMetadata()[converter.MetadataEncoding]) != claimEncoding {
			continue
		}
		name := string(p.GetData())
		doc, err := c.store.Load(context.Background(), name)
		if err != nil {
			return nil, fmt.Errorf("temporal: fetching a payload: %w", err)
		}
		sum := sha256.Sum256(doc)
		if name != "retake/payload/"+hex.EncodeToString(sum[:]) {
			return nil, fmt.Errorf("temporal: what is stored as %s is not what was kept there", name)
		}
		out[n] = &commonpb.Payload{}
		if err := proto.Unmarshal(doc, out[n]); err != nil {
			return nil, fmt.Errorf("temporal: fetching a payload: %w", err)
		}
	}
	return out, nil
}
