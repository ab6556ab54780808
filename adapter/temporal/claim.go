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
	"go.temporal.io/sdk/workflow"
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
	return &claimed{converter.NewCodecDataConverter(parent, &claims{store, over}), false}
}

// The types of Temporal's errors of a store that does not take a payload, and of one that does not give it.
const (
	notStored = "ClaimCheck"
	notLoaded = "retake.not_loaded"
)

// claimed is the converter of [ClaimCheck]. In the code of a workflow a store that fails fails the task of
// the workflow, which Temporal makes again until the store is back. An error would end the run.
type claimed struct {
	converter.DataConverter
	ofWorkflow bool
}

// WithWorkflowContext returns the converter of a workflow's code.
func (c *claimed) WithWorkflowContext(workflow.Context) converter.DataConverter {
	return &claimed{c.DataConverter, true}
}

// WithContext returns the converter of clients and activities.
func (c *claimed) WithContext(context.Context) converter.DataConverter {
	return &claimed{c.DataConverter, false}
}

// WithSerializationContext is for the parent.
func (c *claimed) WithSerializationContext(ctx converter.SerializationContext) converter.DataConverter {
	return &claimed{converter.WithDataConverterSerializationContext(c.DataConverter, ctx), c.ofWorkflow}
}

func (c *claimed) ToPayload(v any) (*commonpb.Payload, error) {
	p, err := c.DataConverter.ToPayload(v)
	return p, c.failed(err)
}

func (c *claimed) ToPayloads(v ...any) (*commonpb.Payloads, error) {
	p, err := c.DataConverter.ToPayloads(v...)
	return p, c.failed(err)
}

func (c *claimed) FromPayload(p *commonpb.Payload, v any) error {
	return c.failed(c.DataConverter.FromPayload(p, v))
}

func (c *claimed) FromPayloads(p *commonpb.Payloads, v ...any) error {
	return c.failed(c.DataConverter.FromPayloads(p, v...))
}

// failed panics at an error of the store in a workflow's code, and returns any other one.
func (c *claimed) failed(err error) error {
	if c.ofWorkflow && (isOf(err, notStored) || isOf(err, notLoaded)) {
		panic(err)
	}
	return err
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
			return nil, sdk.NewNonRetryableApplicationError(text, notStored, err)
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
			return nil, sdk.NewApplicationErrorWithCause(fmt.Sprintf("temporal: loading a payload: %v", err), notLoaded, err)
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
