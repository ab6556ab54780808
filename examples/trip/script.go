package main

import (
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
)

// script has the replies of the scripted model: a call with bad arguments, which never reaches the server;
// a booking that the server refuses; and prose instead of an itinerary. Then it corrects each.
func script() []looptest.Turn {
	call := func(id, name, arguments string, in, out int64) looptest.Turn {
		turn := looptest.Call(message.Call{ID: id, Name: name, Arguments: arguments})
		turn.Reply.Usage = message.Usage{InputTokens: in, OutputTokens: out, APICalls: 1}
		return turn
	}
	say := func(text string, in, out int64) looptest.Turn {
		turn := looptest.Say(text)
		turn.Reply.Usage = message.Usage{InputTokens: in, OutputTokens: out, APICalls: 1}
		return turn
	}
	return []looptest.Turn{
		call("c1", "find_hotel", `{"city":"Lisbon","nights":"two"}`, 410, 18),
		call("c2", "find_hotel", `{"city":"Lisbon","nights":2}`, 520, 17),
		call("c3", "book_room", `{"hotel":"Pensao Sol","room":"single","nights":2}`, 610, 24),
		call("c4", "book_room", `{"hotel":"Pensao Sol","room":"double","nights":2}`, 700, 24),
		say("All booked: two nights at the Pensao Sol!", 760, 14),
		say(`{"city":"Lisbon","hotel":"Pensao Sol","room":"double","nights":2,"euros":130,"receipt":"R-pensao-sol-2"}`, 850, 40),
	}
}
