package temporal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"github.com/retake-go/retake/loop/degrade"
)

// defaultClaim is the size in bytes above which [ClaimCheck] stores a payload by default.
const defaultClaim = 64 << 10

// claimEncoding marks a payload that is in the store.
const claimEncoding = "binary/retake-claim"

// ClaimCheck returns a data converter that stores payloads above a size, and sends their names instead. Set
// it as DataConverter in the client.Options of clients and workers. [Worker].MaxPayload and
// [Options].MaxPayload may then be [policy.Unlimited]. parent converts all else; nil means Temporal's own
// converter. over is the size in bytes; 0 means 64 KiB.
//
// The name of a payload is the hash of its content. Keep payloads for longer than the server keeps
// histories. With a nil store every payload is an error.
func ClaimCheck(parent converter.DataConverter, store degrade.Storage, over int) converter.DataConverter {
	if parent == nil {
		parent = converter.GetDefaultDataConverter()
	}
	if over == 0 {
		over = defaultClaim
	}
	return converter.NewCodecDataConverter(parent, &claims{store, over})
}

type claims struct {
	store degrade.Storage
	over  int
}

// Encode stores large payloads.
func (c *claims) Encode(all []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if c.store == nil { // told at the first payload, not at the first large one
		return nil, errors.New("temporal: the store of ClaimCheck is nil; give it one")
	}
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
			// Temporal would repeat the call, which may have been paid for.
			text := fmt.Sprintf("temporal: storing a payload of %d bytes: %v", len(doc), err)
			return nil, sdk.NewNonRetryableApplicationError(text, "ClaimCheck", err)
		}
		out[n] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(claimEncoding)},
			Data:     []byte(name),
		}
	}
	return out, nil
}

// Decode loads stored payloads.
func (c *claims) Decode(all []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(all))
	for n, p := range all {
		if out[n] = p; string(p.GetMetadata()[converter.MetadataEncoding]) != claimEncoding {
			continue
		}
		name := string(p.GetData())
		doc, err := c.store.Load(context.Background(), name)
		if err != nil {
			return nil, fmt.Errorf("temporal: loading a payload: %w", err)
		}
		sum := sha256.Sum256(doc)
		if name != "retake/payload/"+hex.EncodeToString(sum[:]) {
			return nil, fmt.Errorf("temporal: the stored content of %s does not match its name", name)
		}
		out[n] = &commonpb.Payload{}
		if err := proto.Unmarshal(doc, out[n]); err != nil {
			return nil, fmt.Errorf("temporal: loading a payload: %w", err)
		}
	}
	return out, nil
}
