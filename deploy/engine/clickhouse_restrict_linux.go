package engine

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A replacement overwrites virtual methods of classes in the engine's library by another class's methods. No option,
// grant or setting of the engine has the same effect, and the classes are not exported. Classes are found by their
// mangled type names (Itanium C++ ABI, §2.9).
type replacement struct {
	purpose   string
	class     string // whole name or, for a family of classes, a part of it
	family    bool
	by        string
	from, end int // methods, after two destructors
}

var replacements = []replacement{
	// The engine's command line has a Poco::ErrorHandler that ends the process when a connection fails: by a wrong
	// password, an unknown database, a killed client, bytes that are no HTTP. A server only logs it. The methods are
	// exception(Poco::Exception const &), exception(std::exception const &) and exception(); the base's do nothing.
	{"ending with a connection", "19KillingErrorHandler", false, "N4Poco12ErrorHandlerE", 2, 5},
	// In a command line, function `file` checks neither a grant nor a path below user_files, so an analyst could read
	// every organization's parts and the passwords. arrayJoin's executeImpl fails with FUNCTION_IS_SPECIAL. (The table
	// function of this name does check a grant.)
	{"reading files", "N2DB12FunctionFileE", false, arrayJoinClass, 3, 4},
	// These functions, which nothing here needs, take minutes and gigabytes for one row, past every limit and KILL
	// QUERY: unions, intersections and the like of polygons, distances and similarity of arrays. Any other query that
	// passes its limits ends with the engine (endRunaway).
	{"functions without limits", "FunctionPolygons", true, arrayJoinClass, 3, 4},
	{"functions without limits", "FunctionArrayLevenshtein", true, arrayJoinClass, 3, 4},
}

const arrayJoinClass = "N2DB17FunctionArrayJoinE"

// restrict disables behaviour of the engine's command line that a server must not have.
func restrict(library string) error {
	image, err := openImage(library)
	if err != nil {
		return fmt.Errorf("read %s: %w", library, err)
	}
	defer image.opened.Close()
	for _, r := range replacements {
		if err := image.replace(r); err != nil {
			return fmt.Errorf("keep %s from %s: %w", library, r.purpose, err)
		}
	}
	return nil
}

// boundMemory makes an allocation beyond three quarters of the machine's memory fail, for code of the engine that
// ignores its own limit of a half. RLIMIT_DATA counts private mappings, about 500 MB more than the resident memory
// (measured: 2,186 MB at 1,597 MB resident; the address space has 5,559 MB).
func boundMemory() error {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return fmt.Errorf("read size of memory: %w", err)
	}
	limit := info.Totalram*uint64(info.Unit)/4*3 + 512<<20
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return fmt.Errorf("bound memory: %w", err)
	}
	return nil
}

// image is a loaded library: its file and its address in memory.
type image struct {
	*elf.File
	opened *os.File
	base   uintptr
}

// openImage opens a library and checks its sections. Directories above its name may be inaccessible.
func openImage(library string) (*image, error) {
	opened, err := os.Open(library)
	if err != nil {
		return nil, err
	}
	file, err := elf.NewFile(opened)
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	i := &image{File: file, opened: opened}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", opened.Fd()))
	if err == nil {
		i.base, err = loadAddress(name)
	}
	for _, section := range []string{".text", ".rodata", ".data.rel.ro"} {
		if err == nil && file.Section(section) == nil {
			err = fmt.Errorf("no section %s", section)
		}
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return i, nil
}

// loadAddress returns the address of a library's first byte.
func loadAddress(library string) (uintptr, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(maps)) {
		// 7f00-7f10 r--p 00000000 fe:01 1234 /path; the first mapping begins the file.
		if strings.HasSuffix(line, " "+library+"\n") {
			start, _, _ := strings.Cut(line, "-")
			address, err := strconv.ParseUint(start, 16, 64)
			return uintptr(address), err
		}
	}
	return 0, errors.New("it is not loaded")
}

func (i *image) replace(r replacement) error {
	by, err := i.methodTables(r.by, false, r.end)
	if err != nil {
		return err
	}
	tables, err := i.methodTables(r.class, r.family, r.end)
	for _, table := range tables {
		err = errors.Join(err, overwrite(table[r.from:], by[0][r.from:]))
	}
	return err
}

// methodTables returns the first n virtual methods of a class, or of each class of a family, as words of the tables.
func (i *image) methodTables(class string, family bool, n int) (tables [][]uint64, err error) {
	names, err := i.strings(class, func(name string) bool {
		return name == class || family && strings.HasPrefix(name, "N2DB")
	})
	if err != nil {
		return nil, fmt.Errorf("find name of class %s: %w", class, err)
	}
	for _, name := range names {
		table, err := i.methodTable(name, n)
		if err != nil {
			return nil, fmt.Errorf("class %s: %w", class, err)
		}
		tables = append(tables, table)
	}
	return tables, nil
}

// methodTable returns methods of the class whose name is at an address.
func (i *image) methodTable(name uint64, n int) ([]uint64, error) {
	section := i.Section(".data.rel.ro")
	words := wordsAt(i.base+uintptr(section.Addr), int(section.Size/8))
	address := func(index int) uint64 { return uint64(uintptr(unsafe.Pointer(&words[index]))) }
	// Type information: a word for its own class, then the name.
	nameIndex := slices.Index(words, name)
	if nameIndex < 1 {
		return nil, errors.New("it has no type information")
	}
	// Table: the offset to the top, the type information, the methods. A derived class also refers to the type
	// information, but not after a zero offset.
	information := address(nameIndex - 1)
	for index := 1; index+1+n <= len(words); index++ {
		if words[index] == information && words[index-1] == 0 && i.isCode(words[index+1:index+1+n]) {
			return words[index+1 : index+1+n], nil
		}
	}
	return nil, errors.New("it has no table")
}

// strings returns the addresses of the strings that contain a text and match, at least one.
func (i *image) strings(text string, match func(string) bool) (addresses []uint64, err error) {
	section := i.Section(".rodata")
	// The section is read from the file: touched in memory, its 70 MB would stay resident.
	content := section.Open()
	const overlap = 1 << 10 // of windows, more than a string has
	window := make([]byte, 0, 1<<20+overlap)
	for begin := uint64(0); ; {
		n, err := io.ReadFull(content, window[len(window):cap(window)])
		window = window[:len(window)+n]
		for at := 0; ; at++ {
			next := bytes.Index(window[at:], []byte(text))
			if next < 0 {
				break
			}
			at += next
			first := bytes.LastIndexByte(window[:at], 0) + 1
			length := bytes.IndexByte(window[first:], 0)
			if length >= 0 && match(string(window[first:first+length])) {
				addresses = append(addresses, uint64(i.base)+section.Addr+begin+uint64(first))
			}
		}
		switch {
		case err != nil && len(addresses) == 0:
			return nil, errors.New("not there")
		case err != nil:
			return addresses, nil //nolint:nilerr // it is the end of the section
		}
		begin += uint64(len(window) - overlap)
		window = window[:copy(window, window[len(window)-overlap:])]
	}
}

// isCode reports whether all addresses are in the program text.
func (i *image) isCode(addresses []uint64) bool {
	text := i.Section(".text")
	begin := uint64(i.base) + text.Addr
	return !slices.ContainsFunc(addresses, func(a uint64) bool { return a < begin || a >= begin+text.Size })
}

// wordsAt views memory of the library, which does not move.
func wordsAt(address uintptr, n int) []uint64 {
	return unsafe.Slice((*uint64)(*(*unsafe.Pointer)(unsafe.Pointer(&address))), n)
}

// overwrite copies words into memory that the loader has made read-only.
func overwrite(to, from []uint64) error {
	page := uintptr(unix.Getpagesize())
	first := uintptr(unsafe.Pointer(&to[0]))
	begin := first &^ (page - 1)
	size := int(first-begin) + len(to)*binary.Size(to[0])
	pages := (size + int(page) - 1) &^ (int(page) - 1)
	memory := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&begin))), pages)
	if err := unix.Mprotect(memory, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return fmt.Errorf("make table writable: %w", err)
	}
	copy(to, from)
	if err := unix.Mprotect(memory, unix.PROT_READ); err != nil {
		return fmt.Errorf("make table read-only: %w", err)
	}
	return nil
}
