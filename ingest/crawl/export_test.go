package crawl

import "time"

// Limit makes batches smaller and shorter than they are by default; 0 keeps the default.
func (im *Importer) Limit(batchLines int, linger time.Duration) *Importer {
	if batchLines > 0 {
		im.batchLines = batchLines
	}
	if linger > 0 {
		im.linger = linger
	}
	return im
}
