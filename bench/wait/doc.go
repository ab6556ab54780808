// Package wait measures what a session costs while it waits. Everything is in its tests.
package wait
