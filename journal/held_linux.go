package journal

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// marker returns a lock beyond the end of any journal.
func marker() syscall.Flock_t {
	return syscall.Flock_t{Type: syscall.F_WRLCK, Start: 1 << 62, Len: 1}
}

// showHeld shows readers that a locked file is held: they can ask for this lock without taking it, which the
// one of lock does not allow here. Where the mark cannot be made, the file system makes both locks one.
func showHeld(f *os.File) {
	m := marker()
	_ = syscall.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &m)
}

// held reports whether a writer holds a journal. It takes no lock.
func held(f *os.File) (bool, error) {
	m := marker()
	err := syscall.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &m)
	return m.Type != syscall.F_UNLCK, err
}
