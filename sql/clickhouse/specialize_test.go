package clickhouse

// Specialize is for the test that compares views with their files.
var Specialize = specialize
