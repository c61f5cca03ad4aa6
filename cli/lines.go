package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// maxLine is the longest line that is read, in bytes.
const maxLine = 1 << 20

// line is a line that is not empty.
type line struct {
	number int // 1 is the first
	text   []byte
}

// linesOf are the lines of an input that are not empty, without blanks around them. name is how errors call it.
func linesOf(in io.Reader, name string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxLine)
		number := 0
		for scanner.Scan() {
			number++
			if text := bytes.TrimSpace(scanner.Bytes()); len(text) > 0 && !yield(line{number, bytes.Clone(text)}, nil) {
				return
			}
		}
		if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
			yield(line{}, fmt.Errorf("%s, line %d is longer than %d bytes", name, number+1, maxLine))
		} else if err != nil {
			yield(line{}, fmt.Errorf("%s, line %d: %w", name, number+1, err))
		}
	}
}
