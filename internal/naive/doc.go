// Package naive computes the figures of /api/v1 a second time, from the records
// themselves and in the plainest way, so that tests can hold the pipeline and
// its SQL against it. It follows the published definitions sentence by sentence,
// shares no code with pipeline/extract, keeps everything in memory and counts in
// exact fractions. Slow is fine; only tests import it.
//
// One thing it cannot compute: sentiment is a named method and no definition, so
// it is handed in.
package naive
