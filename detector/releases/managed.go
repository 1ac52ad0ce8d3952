package releases

import "bytes"

// maxItems bounds lists that are compared, as the time for a patch grows with the square of
// their length (jsondiff v0.7.1 compareArrays), and the items of lists in managedFields:
// each is looked for among all.
const maxItems = 5000

// searchable returns managedFields, or nothing where they name more items than are looked for.
func searchable(managed []byte) []byte {
	if len(managed) > maxItems && bytes.Count(managed, []byte(`"k:`))+bytes.Count(managed, []byte(`"v:`)) > maxItems {
		return nil
	}
	return managed
}

// cutManaged takes metadata.managedFields, which are half of an object and seldom looked at,
// out of its JSON. What it returns is good until the next call.
func (c *Collector) cutManaged(body []byte) (rest, managed []byte) {
	start, end := managedFields(body)
	if start == end {
		return body, nil
	}
	c.scratch = append(append(append(c.scratch[:0], body[:start]...), "null"...), body[end:]...)
	return c.scratch, body[start:end]
}

// managedFields finds the value of metadata.managedFields in an object's JSON; what is no
// JSON has none.
func managedFields(body []byte) (start, end int) {
	if !bytes.Contains(body, []byte(`"managedFields"`)) {
		return 0, 0
	}
	depth, metadata := 0, false
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 2 && start > 0 {
				return start, i + 1
			}
		case '"':
			from := i + 1
			if i = endOfString(body, from); i < 0 {
				return 0, 0
			}
			if depth > 2 || start > 0 {
				continue
			}
			value := i + 1 + spaces(body[i+1:])
			if value >= len(body) || body[value] != ':' {
				continue
			}
			switch name := string(body[from:i]); {
			case depth == 1:
				metadata = name == "metadata"
			case metadata && name == "managedFields":
				if value += 1 + spaces(body[value+1:]); value < len(body) && body[value] == '[' {
					start, i = value, value-1
				}
			}
		}
	}
	return 0, 0
}

// endOfString returns where the quote is that ends a string, or -1.
func endOfString(body []byte, i int) int {
	for {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			return -1
		}
		slashes := 0
		for i+n-slashes > 0 && body[i+n-slashes-1] == '\\' {
			slashes++
		}
		if i += n; slashes%2 == 0 {
			return i
		}
		i++
	}
}

func spaces(b []byte) int { return len(b) - len(bytes.TrimLeft(b, " \t\r\n")) }
