package replica

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Code that is not what it should be stays as it is.
func TestAnotherBuildIsRefused(t *testing.T) {
	page, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Munmap(page); err != nil {
			t.Error(err)
		}
	}()
	code := page[100:106]
	copy(code, jumpToQueries)
	code[5]++
	before := bytes.Clone(code)
	if err := patch(uintptr(unsafe.Pointer(&code[0])), jumpToQueries, jumpToParts); !errors.Is(err, errOtherBuild) ||
		!bytes.Equal(code, before) {
		t.Errorf("other code is %x, %v", code, err)
	}
	code[5]--
	if err := patch(uintptr(unsafe.Pointer(&code[0])), jumpToQueries, jumpToParts); err != nil ||
		!bytes.Equal(code, jumpToParts) {
		t.Errorf("the code is %x, %v", code, err)
	}
	if _, err := addressCode(0, strings.Repeat("a", 23), "1"); err == nil {
		t.Error("a host was taken for which there is no room")
	}
}
