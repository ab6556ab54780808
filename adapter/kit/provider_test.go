package kit_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
)

func TestAnotherServerIsAnotherProvider(t *testing.T) {
	for address, want := range map[string]string{
		"":                               "openai",
		"https://api.openai.com/v1":      "openai",
		"https://api.openai.com:443":     "openai",
		"http://LocalHost:8000/v1":       "localhost:8000",
		"http://localhost:8001/v1":       "localhost:8001",
		"https://user:pw@llm.example/v1": "llm.example",
		"http://api.openai.com/v1":       "api.openai.com",
		"://":                            "openai",
	} {
		assert.Equal(t, want, kit.ProviderAt("openai", address, "https://api.openai.com/v1"), address)
	}
}

func TestAnAddressIsReadFromAnSDK(t *testing.T) {
	own, err := url.Parse("https://own.example/v1")
	require.NoError(t, err)
	other, err := url.Parse("https://other.example/v1")
	require.NoError(t, err)
	for want, cfg := range map[string]addressed{
		"": {}, "https://own.example/v1": {DefaultBaseURL: own}, "https://other.example/v1": {BaseURL: other, DefaultBaseURL: own},
	} {
		option, address := kit.AddressOption(like[addressed]{})
		require.Error(t, option.Apply(&cfg), "the request is sent")
		assert.Equal(t, want, *address)
	}
	option, address := kit.AddressOption(like[struct{}]{})
	require.Error(t, option.Apply(new(struct{})))
	assert.Empty(t, *address)
}

type addressed struct{ BaseURL, DefaultBaseURL *url.URL }

type like[C any] struct{}

func (like[C]) Apply(*C) error { return nil }
