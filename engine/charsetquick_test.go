package engine

import "testing"

// What the quick look finds is what the tokenizer finds.
func TestQuickUTF8(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>`: true,
		"\n<html>\n<head>\n<META CHARSET=UTF-8 >":                            true,
		`<meta charset="utf-8"/>`:                                            true,
		`<meta charset=utf-8/>`:                                              false, // its value is "utf-8/"
		`<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd"><html><head><meta http-equiv="Content-Type" content="text/html; charset=UTF-8">`: true,
		`<meta name="a" content="b"><meta charset="utf-8">`:   true,
		`<meta name="a" content="b>c"><meta charset="utf-8">`: false,
		`<meta content="<"><meta charset="utf-8">`:            false,
		`<meta charset="gbk"><meta charset="utf-8">`:          false,
		`<!-- <meta charset="utf-8"> -->`:                     false,
		`<title><meta charset="utf-8"></title>`:               false,
		`<header><meta charset="utf-8">`:                      false,
		`<html a='"'><meta charset="utf-8">`:                  false,
		`<meta charset="utf-8"`:                               false,
		``:                                                    false,
	} {
		if got := quickUTF8([]byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
		if cs, ok := metaCharset([]byte(body)); want && (!ok || cs.name != utf8Name) {
			t.Errorf("%s: the tokenizer finds %v", body, cs)
		}
	}
}

func FuzzQuickUTF8(f *testing.F) {
	f.Add([]byte(`<!DOCTYPE html><html lang="en"><head><meta name="a" content="b"><meta charset="utf-8">`))
	f.Add([]byte(`<meta http-equiv="Content-Type" content="text/html; charset=UTF-8" />`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if !quickUTF8(body) {
			return
		}
		if cs, ok := metaCharset(body); !ok || cs.name != utf8Name {
			t.Errorf("%q: the tokenizer finds %v", body, cs)
		}
	})
}
