package imports

import "time"

// Limit makes lines and batches shorter than they are by default; 0 keeps the default.
func (in *Importer) Limit(lineBytes, batchLines int) *Importer {
	if lineBytes > 0 {
		in.limits.lineBytes = lineBytes
	}
	if batchLines > 0 {
		in.limits.batchLines = batchLines
	}
	return in
}

// LimitLog does the same for access logs.
func (in *Importer) LimitLog(crawls int, linger time.Duration) *Importer {
	if crawls > 0 {
		in.limits.logCrawls = crawls
	}
	if linger > 0 {
		in.limits.linger = linger
	}
	return in
}
