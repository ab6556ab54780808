//go:build !(darwin || freebsd || linux)

package main

import "os"

// terminalWidth is 0: how wide terminals are is not known here.
func terminalWidth(*os.File) int { return 0 }
