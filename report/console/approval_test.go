package console_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/browser"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/report/console"
)

// The process is killed between the question and the answer. A person changes the sum in the console, and the
// next process pays that, once.
func TestAPaymentOfTheExampleIsApprovedInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	tab := browser.Open(t)
	dir := t.TempDir()
	c, err := console.New(console.Settings{Stores: []console.Named{{Store: journal.Dir(dir)}}})
	require.NoError(t, err)
	server := httptest.NewServer(c)
	defer server.Close()
	defer tab.Go("about:blank", "true") // its stream ends
	program := filepath.Join(t.TempDir(), "approval")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../../examples", "-o", program, "./approval").CombinedOutput()
	require.NoError(t, err, "%s", out)

	tab.Look(420, 900, true)
	tab.Go(server.URL, `document.getElementById("asking")`)
	first := exec.CommandContext(t.Context(), program, dir)
	require.NoError(t, first.Start())
	tab.Until(`document.getElementById("asking").innerText === "1"`)
	require.NoError(t, first.Process.Kill())
	require.ErrorContains(t, first.Wait(), "killed")

	tab.Go(server.URL+"/inbox", `document.querySelector("form.answer")`)
	tab.Enter(`[name="a/cents"]`, "450")
	tab.Enter(`[name=by]`, "Ann")
	tab.Click(`[value=approve]`)
	tab.Until(`document.querySelector(".given")`)
	assert.NoFileExists(t, filepath.Join(dir, "payments.txt"), "nobody is there to pay")

	out, err = exec.CommandContext(t.Context(), program, dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "paid")
	paid, err := os.ReadFile(filepath.Join(dir, "payments.txt"))
	require.NoError(t, err)
	assert.Equal(t, "450 EUR to ACME\n", string(paid))
	tab.Go(server.URL, `document.querySelector("b.done")`)
	tab.Go(server.URL+"/session?id=order-42", `document.body.textContent.includes("Ann")`)
}
