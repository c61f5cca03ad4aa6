package luabind

import (
	"strings"
	"testing"
)

// TestTextInPieces: what is copied in pieces is what append makes, around the sizes where pieces begin, and of itself.
func TestTextInPieces(t *testing.T) {
	t.Parallel()
	letters := strings.Repeat("abcdefg", 5*pieceSize/7)
	for _, had := range []int{0, 1, pieceSize - 1, pieceSize, pieceSize + 1, 3 * pieceSize} {
		for _, more := range []int{0, 1, pieceSize - had, pieceSize, pieceSize + 1, 3*pieceSize + 5} {
			if more < 0 {
				continue
			}
			b := append([]byte(nil), letters[:had]...)
			b = appendText(b, letters[:more])
			b = appendText(b, asText(b))
			want := strings.Repeat(letters[:had]+letters[:more], 2)
			if string(newText(b)) != want {
				t.Errorf("%d and %d bytes make another text", had, more)
			}
		}
	}
	for _, unit := range []int{1, 3, 1000, pieceSize - 1, pieceSize, pieceSize + 1, 2 * pieceSize} {
		for _, n := range []int{0, 1, 2, 3, 5*pieceSize/unit + 1} {
			if string(repeat(letters[:unit], n)) != strings.Repeat(letters[:unit], n) {
				t.Errorf("%d bytes repeated %d times make another text", unit, n)
			}
		}
	}
}
