package kit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
