package clickhouse

// For the tests that compare views with their files.
var (
	Specialize = specialize
	SumsText   = sumsText
	Bind       = bind
)
