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

// restrict replaces what the engine does in a command line and must not do in a server.
func restrict(library string) error {
	image, err := openImage(library)
	if err != nil {
		return fmt.Errorf("read %s: %w", library, err)
	}
	defer image.opened.Close()
	if err := image.surviveConnections(); err != nil {
		return fmt.Errorf("keep %s from ending with a connection: %w", library, err)
	}
	if err := image.refuseFiles(); err != nil {
		return fmt.Errorf("keep %s from reading files: %w", library, err)
	}
	if err := image.refuseEndless(); err != nil {
		return fmt.Errorf("keep %s from functions without limits: %w", library, err)
	}
	return nil
}

// boundMemory keeps the engine from taking what other processes need, whatever in it ignores its own limit of half of
// the machine's memory: an allocation beyond three quarters fails. What is mapped privately, which this counts, is
// about 500 MB more than what is used (measured: 2,186 MB at 1,597 MB resident; of addresses it has 5,559 MB).
func boundMemory() error {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return fmt.Errorf("read size of memory: %w", err)
	}
	most := info.Totalram*uint64(info.Unit)/4*3 + 512<<20
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}); err != nil {
		return fmt.Errorf("bound memory: %w", err)
	}
	return nil
}

// surviveConnections makes the engine outlive a connection that fails: by a wrong password, an unknown database, a
// killed client, bytes that are no HTTP.
//
// The engine's command line has a Poco::ErrorHandler named KillingErrorHandler, which then ends the process; a server
// only logs it. No option changes this and the class is not exported, so its methods are replaced in memory by those of
// the base class, which do nothing. Tables of methods are found by the names of their types (Itanium C++ ABI, §2.9).
func (i *image) surviveConnections() error {
	killing, err := i.methods("19KillingErrorHandler", 5)
	if err != nil {
		return err
	}
	base, err := i.methods("N4Poco12ErrorHandlerE", 5)
	if err != nil {
		return err
	}
	// After the two destructors: exception(Poco::Exception const &), exception(std::exception const &) and exception().
	return overwrite(killing[2:5], base[2:5])
}

// refuseFiles makes the engine's function `file` fail for every user: in a command line it asks neither for a grant nor
// for a path below user_files, so an analyst could read every organization's parts and the passwords. Its method is
// replaced by that of arrayJoin, which fails with FUNCTION_IS_SPECIAL. (The table function of this name does ask for a
// grant.)
func (i *image) refuseFiles() error {
	file, err := i.methods("N2DB12FunctionFileE", 4)
	if err != nil {
		return err
	}
	refusing, err := i.methods("N2DB17FunctionArrayJoinE", 4)
	if err != nil {
		return err
	}
	// After the two destructors: getName() and executeImpl(…).
	return overwrite(file[3:4], refusing[3:4])
}

// refuseEndless makes functions fail that nobody asks here and that take minutes and gigabytes for one row, past every
// limit and KILL QUERY: unions, intersections and the like of polygons, distances and similarity of arrays. No grant,
// profile or setting of the engine refuses a function. What else passes its limits ends with the engine (endRunaway).
func (i *image) refuseEndless() error {
	refusing, err := i.methods("N2DB17FunctionArrayJoinE", 4)
	if err != nil {
		return err
	}
	for _, family := range []string{"FunctionPolygons", "FunctionArrayLevenshtein"} {
		names, err := i.strings(family, func(name string) bool { return strings.HasPrefix(name, "N2DB") })
		if err != nil {
			return fmt.Errorf("find classes %s…: %w", family, err)
		}
		for _, name := range names {
			table, err := i.table(name, 4)
			if err == nil {
				err = overwrite(table[3:4], refusing[3:4])
			}
			if err != nil {
				return fmt.Errorf("refuse class %s…: %w", family, err)
			}
		}
	}
	return nil
}

// image is a loaded library: its file, and where that is in memory.
type image struct {
	*elf.File
	opened *os.File
	base   uintptr
}

// openImage opens a library that has the sections that are looked into. To its name may lead directories that are
// closed.
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
		i.base, err = loadedAt(name)
	}
	for _, name := range []string{".text", ".rodata", ".data.rel.ro"} {
		if err == nil && file.Section(name) == nil {
			err = fmt.Errorf("no section %s", name)
		}
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return i, nil
}

// loadedAt returns the address of a library's first byte.
func loadedAt(library string) (uintptr, error) {
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

// methods returns the first n virtual methods of the class with a mangled type name, words of the table itself.
func (i *image) methods(class string, n int) ([]uint64, error) {
	names, err := i.strings(class, func(name string) bool { return name == class })
	if err != nil {
		return nil, fmt.Errorf("find name of class %s: %w", class, err)
	}
	table, err := i.table(names[0], n)
	if err != nil {
		return nil, fmt.Errorf("class %s: %w", class, err)
	}
	return table, nil
}

// table is methods of the class whose name is at an address.
func (i *image) table(name uint64, n int) ([]uint64, error) {
	section := i.Section(".data.rel.ro")
	words := wordsAt(i.base+uintptr(section.Addr), int(section.Size/8))
	at := func(index int) uint64 { return uint64(uintptr(unsafe.Pointer(&words[index]))) }
	// Type information: a word for its own class, then the name.
	naming := slices.Index(words, name)
	if naming < 1 {
		return nil, errors.New("it has no type information")
	}
	// Table: the offset to the top, the type information, the methods. A class derived from this one also refers to its
	// type information, but not after a zero offset.
	information := at(naming - 1)
	for index := 1; index+1+n <= len(words); index++ {
		if words[index] == information && words[index-1] == 0 && i.isCode(words[index+1:index+1+n]) {
			return words[index+1 : index+1+n], nil
		}
	}
	return nil, errors.New("it has no table")
}

// strings returns the addresses of the strings that have a text in them and are right, at least one.
func (i *image) strings(text string, right func(string) bool) (addresses []uint64, err error) {
	section := i.Section(".rodata")
	// Read from the file: touched in memory, these 70 MB would stay resident.
	content := section.Open()
	const longest = 1 << 10 // of a string, which may begin at the end of a window; so that end begins the next one
	window := make([]byte, 0, 1<<20+longest)
	for begin := uint64(0); ; {
		n, err := io.ReadFull(content, window[len(window):cap(window)])
		window = window[:len(window)+n]
		for at := 0; ; at++ {
			found := bytes.Index(window[at:], []byte(text))
			if found < 0 {
				break
			}
			at += found
			first := bytes.LastIndexByte(window[:at], 0) + 1
			length := bytes.IndexByte(window[first:], 0)
			if length >= 0 && right(string(window[first:first+length])) {
				addresses = append(addresses, uint64(i.base)+section.Addr+begin+uint64(first))
			}
		}
		switch {
		case err != nil && len(addresses) == 0:
			return nil, errors.New("not there")
		case err != nil:
			return addresses, nil //nolint:nilerr // it is the end of the section
		}
		begin += uint64(len(window) - longest)
		window = window[:copy(window, window[len(window)-longest:])]
	}
}

// isCode says whether all the addresses are within the program text.
func (i *image) isCode(addresses []uint64) bool {
	text := i.Section(".text")
	begin := uint64(i.base) + text.Addr
	return !slices.ContainsFunc(addresses, func(a uint64) bool { return a < begin || a >= begin+text.Size })
}

// wordsAt views memory that is the library's and stays where it is.
func wordsAt(address uintptr, n int) []uint64 {
	return unsafe.Slice((*uint64)(*(*unsafe.Pointer)(unsafe.Pointer(&address))), n)
}

// overwrite copies words into memory that the loader has made read-only.
func overwrite(to, from []uint64) error {
	page := uintptr(unix.Getpagesize())
	first := uintptr(unsafe.Pointer(&to[0]))
	begin := first &^ (page - 1)
	size := int(first-begin) + len(to)*binary.Size(to[0])
	memory := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&begin))), (size+int(page)-1)&^(int(page)-1))
	if err := unix.Mprotect(memory, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return fmt.Errorf("make table writable: %w", err)
	}
	copy(to, from)
	if err := unix.Mprotect(memory, unix.PROT_READ); err != nil {
		return fmt.Errorf("make table read-only: %w", err)
	}
	return nil
}
