package httpd

import "bytes"

// framed says whether the headers of a request say in one way where its body ends (RFC 9112 §6.3). fasthttp takes the
// last of several lengths, and any transfer coding for chunked; a proxy before it may take another, and then what one
// of them reads as the rest of a body the other reads as a request.
func framed(headers []byte) bool {
	var length []byte
	chunked := false
	for line := range bytes.Lines(headers) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length != nil && !bytes.Equal(length, value) {
				return false
			}
			length = value
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			if chunked || !bytes.EqualFold(value, []byte("chunked")) {
				return false
			}
			chunked = true
		}
	}
	return length == nil || !chunked
}
