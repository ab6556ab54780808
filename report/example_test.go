package report_test

import (
	"fmt"
	"os"

	"github.com/retake-go/retake/report"
)

// A provider is overloaded once, and asks for three seconds of quiet.
func Example() {
	in, err := os.Open("../testdata/journals/v1/transport_wait.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer in.Close()
	if err := report.Text(os.Stdout, in, report.Style{Width: 80}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// order-42 run 1 2030-01-01 00:00:00 UTC
	// format    retake.journal/1
	// seed      "7"
	// policy    answer: max_attempts 3; backoff constant 0s
	// policy    transport: max_attempts 4; backoff exponential 1s ×2, cap 10s, jitter
	//           ±25% after the cap
	// budgets   tool 4, run 8, unknown tools 2; turns 100; calls in a reply 128
	// tools     book_room
	//
	//     +0s  start     the user says: Two nights in Lisbon, please.
	//     +0s  call      1: attempt 1 of 3
	//     +0s  reply     failed: overloaded (the server asks for 3s)
	//     +0s  retry     attempt 1 of 4, transport plane: overloaded
	//                    again after 3.106s, as the server asked
	//     +0s  wait      3.106s       ████████████████████████████████████████
	// +3.106s  call      2: attempt 1 of 3, transport attempt 2
	// +3.106s  reply     failed: network
	// +3.106s  retry     attempt 2 of 4, transport plane: network
	//                    again after 2.186s
	// +3.106s  wait      2.186s       ████████████████████████████
	// +5.292s  call      3: attempt 1 of 3, transport attempt 3
	// +5.292s  reply     Hello. (finish stop); 10 tokens in, 2 out
	// +5.292s  accept    attempt 1 of 3
	// +5.292s  done      Hello.
	//
	// 3 model calls, 1 accepted attempt, 2 transport faults, 5.292s waited, 10 tokens
	// in, 2 out
}
