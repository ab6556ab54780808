//go:build unix

package postgrestest

import (
	"os"
	"syscall"
)

// leaveRoot lets the programs run as nobody if this process is root's: the server refuses to run as root.
func (s *Server) leaveRoot() error {
	if os.Getuid() != 0 {
		return nil
	}
	const nobody = 65534
	s.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return os.Chown(s.dir, nobody, nobody)
}
