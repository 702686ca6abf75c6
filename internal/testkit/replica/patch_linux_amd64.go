package replica

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Unsupported says why this machine has no replicas; it has.
const Unsupported = ""

// Two places of the pinned build, @chdb/lib-linux-x64-gnu of package-lock.json, as virtual addresses of its library. To
// find them in another build: the text "InterserverIOHTTPHandler-factory" and the text "interserver_http(s)_port"
// followed by "required for replication is not specified" stand once in .rodata; each is read by one instruction of
// .text (a displacement from rip); the function around an address is in the table of .eh_frame_hdr.
const (
	// chooseFactory is in createHandlerFactory(server, config, metrics, name, …), where the name of a listener decides
	// what answers on its port. It jumps to the factory of queries for the name of HTTP, and here to that of parts.
	chooseFactory = 0x18395d32

	// interserverAddress is Context::getInterserverIOAddress, which throws where no server's main has set an address:
	// 247 bytes of room.
	interserverAddress     = 0x1417c9c0
	interserverAddressSize = 247
)

var (
	jumpToQueries = []byte{0x0f, 0x84, 0xc2, 0x02, 0x00, 0x00}
	jumpToParts   = []byte{0x0f, 0x84, 0x84, 0x00, 0x00, 0x00}
	oldAddress    = []byte{0x41, 0x56, 0x53, 0x48, 0x83, 0xec, 0x48} // push r14; push rbx; sub rsp, 72
)

// Members of Context's shared part that a server's main sets.
const (
	sharedScheme      = 0x170 // a text of libc++: up to 22 bytes at its begin, their number in its last, the 24th
	sharedCredentials = 0x1b0 // a pointer to the user, the password and a vector of such pairs
	textSize          = 24
)

// replicate makes the loaded engine exchange parts with its replicas on its HTTP port, under the given address.
func replicate(library, host, port string) error {
	base, err := loadAddress()
	if err != nil {
		return fmt.Errorf("switch on replication of %s: %w", library, err)
	}
	address, err := addressCode(base+interserverAddress, host, port)
	if err != nil {
		return err
	}
	for _, p := range []struct {
		at       uintptr
		old, new []byte
	}{{interserverAddress, oldAddress, address}, {chooseFactory, jumpToQueries, jumpToParts}} {
		if err := patch(base+p.at, p.old, p.new); err != nil {
			return fmt.Errorf("switch on replication of %s at %#x: %w", library, p.at, err)
		}
	}
	return nil
}

// errOtherBuild is returned where the library does not have the bytes of the pinned build.
var errOtherBuild = errors.New("this engine is another build than the one whose addresses are known: " +
	"run make engines, or, if the pinned build has changed, find the addresses as patch_linux_amd64.go says")

// patch replaces machine code, if it is what it should be.
func patch(at uintptr, before, after []byte) error {
	code := bytesAt(at, max(len(before), len(after)))
	if !bytes.HasPrefix(code, before) {
		return errOtherBuild
	}
	page := uintptr(unix.Getpagesize())
	begin := at &^ (page - 1)
	pages := bytesAt(begin, int((at+uintptr(len(after))-begin+page-1)&^(page-1)))
	// The scheme and the credentials of the patch are read and not written, so the pages can be code again.
	if err := unix.Mprotect(pages, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC); err != nil {
		return fmt.Errorf("make code writable: %w", err)
	}
	copy(code, after)
	if err := unix.Mprotect(pages, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		return fmt.Errorf("make code read-only: %w", err)
	}
	return nil
}

// addressCode is machine code for getInterserverIOAddress at an address, followed by its data. It returns the host and
// the port in the object to which rdi points, and sets the scheme and the credentials of the Context in rsi. The
// credentials are one pair of empty texts; without any pair replicas refuse each other.
func addressCode(at uintptr, host, port string) ([]byte, error) {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || len(host) >= textSize-1 {
		return nil, fmt.Errorf("interserver address %s: want a host of at most 22 bytes and a port",
			net.JoinHostPort(host, port))
	}
	var code []byte
	word := func(n int) { code = binary.LittleEndian.AppendUint32(code, uint32(n)) }
	emit := func(b ...byte) { code = append(code, b...) }
	emit(0x48, 0x8b, 0x16) // mov rdx, [rsi]: the shared part
	emit(0xc7, 0x82)       // mov dword [rdx+scheme], "http"
	word(sharedScheme)
	emit([]byte("http")...)
	emit(0xc6, 0x82) // mov byte [rdx+scheme+4], 0
	word(sharedScheme + 4)
	emit(0)
	emit(0xc6, 0x82) // mov byte [rdx+scheme+23], 4
	word(sharedScheme + textSize - 1)
	emit(4)
	const rest = 7 + 7 + 7 + 26 // bytes of the instructions that follow
	hostAt := len(code) + rest
	credentialsAt := hostAt + textSize + 2
	emit(0x48, 0x8d, 0x05) // lea rax, [credentials]
	word(credentialsAt - len(code) - 4)
	emit(0x48, 0x89, 0x82) // mov [rdx+credentials], rax
	word(sharedCredentials)
	emit(0x48, 0x8d, 0x05) // lea rax, [host]
	word(hostAt - len(code) - 4)
	emit(0x0f, 0x10, 0x00)       // movups xmm0, [rax]
	emit(0x0f, 0x11, 0x07)       // movups [rdi], xmm0
	emit(0x48, 0x8b, 0x48, 0x10) // mov rcx, [rax+16]
	emit(0x48, 0x89, 0x4f, 0x10) // mov [rdi+16], rcx
	emit(0x0f, 0xb7, 0x48, 0x18) // movzx ecx, word [rax+24]: the port
	emit(0x66, 0x89, 0x4f, 0x18) // mov [rdi+24], cx
	emit(0x48, 0x89, 0xf8, 0xc3) // mov rax, rdi; ret
	emit([]byte(host)...)
	emit(make([]byte, textSize-1-len(host))...)
	emit(byte(len(host)))
	code = binary.LittleEndian.AppendUint16(code, uint16(number))
	pair := uint64(at) + uint64(credentialsAt)
	emit(make([]byte, 2*textSize)...) // two empty texts
	for _, pointer := range []uint64{pair, pair + 2*textSize, pair + 2*textSize} {
		code = binary.LittleEndian.AppendUint64(code, pointer)
	}
	emit(make([]byte, textSize)...)
	if len(code) > interserverAddressSize {
		return nil, fmt.Errorf("interserver address: %d bytes of code, there is room for %d", len(code), interserverAddressSize)
	}
	return code, nil
}

// loadAddress returns the address of the first byte of the loaded library.
func loadAddress() (uintptr, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(maps)) {
		// 7f00-7f10 r--p 00000000 fe:01 1234 /path; the first mapping begins the file.
		if strings.HasSuffix(line, "/libchdb.so\n") {
			start, _, _ := strings.Cut(line, "-")
			address, err := strconv.ParseUint(start, 16, 64)
			return uintptr(address), err
		}
	}
	return 0, errors.New("it is not loaded")
}

// bytesAt views memory of the library, which does not move.
func bytesAt(address uintptr, n int) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&address))), n)
}
