package engine

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// runClickHouse loads the engine's library and runs its command line, which
// returns when its query is killed (see ClickHouse.Stop). The engine also ends, at
// once, when stdin does: then the parent is gone. Signals that a supervisor sends to
// every process are left to the parent, which still has rows to insert.
func runClickHouse(library string, args []string) error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	lib, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return fmt.Errorf("load %s: %w", library, err)
	}
	if err := restrict(library); err != nil {
		return err
	}
	var queryCmdline func(argc int32, argv unsafe.Pointer) uintptr
	purego.RegisterLibFunc(&queryCmdline, lib, "chdb_query_cmdline")

	argv := make([]*byte, 0, len(args)+2)
	for _, arg := range append([]string{"clickhouse"}, args...) {
		argv = append(argv, &append([]byte(arg), 0)[0])
	}
	argv = append(argv, nil) // C's argv ends with a null pointer
	queryCmdline(int32(len(argv)-1), unsafe.Pointer(&argv[0]))
	runtime.KeepAlive(argv)
	return nil
}
