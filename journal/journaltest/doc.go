// Package journaltest holds stores of journals to what package journal asks of them, for whoever writes one.
package journaltest
