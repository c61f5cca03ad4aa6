package scheduler

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// vector is a row of testdata/fingerprint.jsonl: made with Python and w3lib.
type vector struct{ URL, Method, Body, Canonical, Fingerprint string }

func vectors(t testing.TB) []vector {
	t.Helper()
	file, err := os.Open("testdata/fingerprint.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows []vector
	for sc := bufio.NewScanner(file); sc.Scan(); {
		var v vector
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, v)
	}
	if len(rows) < 100 {
		t.Fatalf("%d rows", len(rows))
	}
	return rows
}

// body turns one character a byte (latin-1) into bytes.
func (v vector) body() []byte {
	var b []byte
	for _, r := range v.Body {
		b = append(b, byte(r))
	}
	return b
}

func TestFingerprintOfCanonical(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		if got := fingerprint(v.Method, v.Canonical, v.body()).String(); got != v.Fingerprint {
			t.Errorf("%s %q: %s, want %s", v.Method, v.Canonical, got, v.Fingerprint)
		}
	}
}

func TestFingerprintOfRequest(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		r := &Request{URL: v.URL, Method: v.Method, Body: v.body()}
		if got := r.Fingerprint().String(); got != v.Fingerprint {
			t.Errorf("%s %q: %s, want %s", v.Method, v.URL, got, v.Fingerprint)
		}
	}
}

func TestPythonEscapes(t *testing.T) {
	t.Parallel()
	// python3: json.dumps('a"\\/\n\r\t\b\f\x00\x7fé€😀~ ')
	in := "a\"\\/\n\r\t\b\f\x00\x7fé€😀~ "
	want := `a\"\\/\n\r\t\b\f\u0000\u007f\u00e9\u20ac\ud83d\ude00~ `
	if got := string(appendPython(nil, in)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestFingerprintDefaults(t *testing.T) { // not parallel: it counts allocations
	if fingerprint("", "http://a.test/", nil) != fingerprint("GET", "http://a.test/", []byte{}) {
		t.Error("no method and GET differ")
	}
	if fingerprint("GET", "http://a.test/", nil) == fingerprint("POST", "http://a.test/", nil) {
		t.Error("GET and POST are the same")
	}
	if n := testing.AllocsPerRun(100, func() { fingerprint("GET", "http://docs.example.com/api/java.base/java/util/List.html", nil) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkFingerprint(b *testing.B) {
	r := &Request{URL: "http://docs.example.com/api/java.base/java/util/concurrent/ConcurrentHashMap.html"}
	b.ReportAllocs()
	for b.Loop() {
		r.Fingerprint()
	}
}
