package console

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"

	"io/fs"
)

// lockedFiles returns the files that some process has locked, by their ids: those of /proc/locks.
func lockedFiles() (ids map[string]bool, known bool) {
	f, err := os.Open("/proc/locks")
	if err != nil {
		return nil, false
	}
	defer f.Close()
	ids = map[string]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 5 && fields[1] == "FLOCK" {
			ids[fields[5]] = true
		}
	}
	return ids, lines.Err() == nil
}

// fileID returns the id of a file as /proc/locks writes it, and a version that another file does not have.
func fileID(info fs.FileInfo) (id, version string) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", ""
	}
	dev := uint64(stat.Dev) //nolint:unconvert // its type differs by architecture
	major, minor := dev>>8&0xfff|dev>>32&^0xfff, dev&0xff|dev>>12&^0xff
	return fmt.Sprintf("%02x:%02x:%d", major, minor, stat.Ino), fmt.Sprint(dev, ":", stat.Ino)
}
