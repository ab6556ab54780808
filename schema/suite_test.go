package schema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/schema"
)

// suiteCase is a schema of the official test suite with its documents.
type suiteCase struct {
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Tests       []struct {
		Description string          `json:"description"`
		Data        json.RawMessage `json:"data"`
		Valid       bool            `json:"valid"`
	} `json:"tests"`
	name string // the file and the description
}

// suiteDrafts are the drafts of the suite by their directories.
var suiteDrafts = map[string]string{
	"draft4": "http://json-schema.org/draft-04/schema#", "draft6": "http://json-schema.org/draft-06/schema#", "draft7": "http://json-schema.org/draft-07/schema#",
	"draft2019-09": "https://json-schema.org/draft/2019-09/schema", "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}

// suite reads all cases of the official test suite.
func suite(t testing.TB) (all []suiteCase) {
	files, err := filepath.Glob("testdata/suite/*/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var cases []suiteCase
		require.NoError(t, json.Unmarshal(text, &cases), file)
		draft := filepath.Base(filepath.Dir(file))
		for _, c := range cases {
			c.Schema = inDraft(c.Schema, suiteDrafts[draft])
			c.name = fmt.Sprintf("%s/%s: %s", draft, strings.TrimSuffix(filepath.Base(file), ".json"), c.Description)
			all = append(all, c)
		}
	}
	return all
}

// inDraft adds the draft to a schema that names none.
func inDraft(text json.RawMessage, draft string) json.RawMessage {
	if text[0] != '{' || strings.Contains(string(text), `"$schema"`) {
		return text
	}
	return json.RawMessage(strings.Replace(string(text), "{", `{"$schema":"`+draft+`",`, 1))
}

// Our verdicts are those of the official test suite. Tests that need documents from elsewhere are left out,
// because such references are refused by design.
func TestSuite(t *testing.T) {
	right, remote := 0, 0
	for _, c := range suite(t) {
		s, err := schema.Compile(c.Schema)
		if err != nil {
			assert.Regexp(t, "outside of the document|expected a draft of JSON Schema", err, c.name)
			remote += len(c.Tests)
			continue
		}
		for _, test := range c.Tests {
			issues := s.Check(test.Data)
			if assert.Equal(t, test.Valid, len(issues) == 0, "%s: %s: %v", c.name, test.Description, issues) {
				right++
			}
		}
	}
	assert.Equal(t, 4794, right)
	assert.Equal(t, 148, remote)
}
