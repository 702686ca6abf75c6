package referral

const (
	maxHost = 253 // bytes of a host's name (RFC 1035), longer than every value of the table
	maxName = 64  // bytes of a parameter's name, longer than every name of the table
)

// fold appends text in lower case, of ASCII alone: no key of the table has another letter. It is not ok when text does
// not fit, and so is no key.
func fold(space []byte, text string) (folded []byte, ok bool) {
	if len(text) > cap(space) {
		return nil, false
	}
	for i := range len(text) {
		space = append(space, lower(text[i]))
	}
	return space, true
}

// unescape is fold of a name or a value of a query. An escape that is none is taken as it is.
func unescape(space []byte, text string) (folded []byte, ok bool) {
	for i := 0; i < len(text); i++ {
		if len(space) == cap(space) {
			return nil, false
		}
		c := text[i]
		switch {
		case c == '+':
			c = ' '
		case c == '%' && i+2 < len(text) && hex(text[i+1]) < 16 && hex(text[i+2]) < 16:
			c = hex(text[i+1])<<4 | hex(text[i+2])
			i += 2
		}
		space = append(space, lower(c))
	}
	return space, true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// hex is the value of a hexadecimal digit, 16 or more of another byte.
func hex(c byte) byte {
	switch c = lower(c); {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}

// plain reports whether a name in lower case is one that a browser writes: labels of letters, digits, hyphens and
// underscores between dots. Others are no host here: "chatgpt.com" ends evil.example\.chatgpt.com, which a browser
// reads as evil.example.
func plain(host []byte) bool {
	label := 0
	for _, c := range host {
		switch {
		case c == '.' && label == 0:
			return false
		case c == '.':
			label = 0
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
			label++
		default:
			return false
		}
	}
	return label > 0
}
