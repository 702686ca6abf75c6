package intake

// Limit makes lines and batches shorter than they are by default; 0 keeps the default.
func (in *Intake) Limit(lineBytes, batchLines int) *Intake {
	if lineBytes > 0 {
		in.limits.lineBytes = lineBytes
	}
	if batchLines > 0 {
		in.limits.batchLines = batchLines
	}
	return in
}
