package imports

import "time"

// Limit makes lines and batches shorter than they are by default; 0 keeps the default.
func (im *Importer) Limit(lineBytes, batchLines int) *Importer {
	if lineBytes > 0 {
		im.limits.lineBytes = lineBytes
	}
	if batchLines > 0 {
		im.limits.batchLines = batchLines
	}
	return im
}

// LimitLog does the same for access logs.
func (im *Importer) LimitLog(crawls int, linger time.Duration) *Importer {
	if crawls > 0 {
		im.limits.logCrawls = crawls
	}
	if linger > 0 {
		im.limits.linger = linger
	}
	return im
}
