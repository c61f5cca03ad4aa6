package engine

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// The words are of the kind that a news page has.
var scripts = map[string]string{
	"gbk":          "北京时间今天上午，国家统计局发布了最新的经济数据。专家表示，今年的增长速度比去年有所提高，但是仍然面临许多困难。",
	"gb18030":      "北京时间今天上午，国家统计局发布了最新的经济数据。专家表示，今年的增长速度比去年有所提高，但是仍然面临许多困难。",
	"big5":         "台北今天上午舉行了一場記者會，總統府發言人表示，政府將會繼續推動經濟改革，希望民眾能夠支持這項重要的政策。",
	"shift_jis":    "東京では今日の午前、政府が新しい経済政策を発表しました。専門家は来年の成長について慎重な見方をしています。",
	"euc-jp":       "東京では今日の午前、政府が新しい経済政策を発表しました。専門家は来年の成長について慎重な見方をしています。",
	"iso-2022-jp":  "東京では今日の午前、政府が新しい経済政策を発表しました。専門家は来年の成長について慎重な見方をしています。",
	"euc-kr":       "서울에서 오늘 오전 정부가 새로운 경제 정책을 발표했습니다. 전문가들은 내년 성장에 대해 신중한 전망을 내놓았습니다.",
	"windows-1251": "Сегодня утром в Москве правительство объявило о новой экономической политике. Эксперты осторожно оценивают рост.",
	"koi8-r":       "Сегодня утром в Москве правительство объявило о новой экономической политике. Эксперты осторожно оценивают рост.",
	"windows-1255": "הממשלה הודיעה הבוקר בירושלים על מדיניות כלכלית חדשה. מומחים מעריכים בזהירות את הצמיחה בשנה הבאה.",
	"windows-1253": "Η κυβέρνηση ανακοίνωσε σήμερα το πρωί στην Αθήνα μια νέα οικονομική πολιτική για το επόμενο έτος.",
	"windows-874":  "รัฐบาลประกาศนโยบายเศรษฐกิจใหม่เมื่อเช้านี้ที่กรุงเทพมหานคร ผู้เชี่ยวชาญคาดว่าปีหน้าจะเติบโต",
	"windows-1252": "Le gouvernement a annoncé ce matin à Paris une nouvelle politique économique, déjà critiquée par l’opposition.",
	"utf-8":        "Всё 北京 東京 서울 é ok",
	"utf-16le":     "Le gouvernement a annoncé ce matin 北京",
	"utf-16be":     "Le gouvernement a annoncé ce matin 北京",
}

func encode(t testing.TB, name, text string) []byte {
	t.Helper()
	cs, ok := lookupCharset(name)
	if !ok {
		t.Fatalf("no charset %s", name)
	}
	if cs.enc == nil {
		return []byte(text)
	}
	b, err := cs.enc.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}

func checkDecoded(t *testing.T, what string, body []byte, contentType, wantName, wantText string) {
	t.Helper()
	r := &Response{URL: "http://h/", Body: body, Header: http.Header{}}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if r.Encoding() != wantName || !strings.Contains(r.Text(), wantText) {
		t.Errorf("%s: read as %s: %.120q, want %s: %.60q", what, r.Encoding(), r.Text(), wantName, wantText)
	}
}

func TestDeclaredCharset(t *testing.T) {
	t.Parallel()
	for name, text := range scripts {
		if strings.HasPrefix(name, "utf-16") {
			continue // cannot be declared in ASCII
		}
		plain := "<title>x</title><p>" + text
		checkDecoded(t, "header "+name, encode(t, name, plain), `text/html; Charset="`+strings.ToUpper(name)+`"`, name, text)
		checkDecoded(t, "junk header "+name, encode(t, name, plain), "text/html;;charset = "+name+" ; x", name, text)
		meta := "<html><head><META content='text/html; charset=" + name + "' Http-Equiv=Content-Type>" + plain
		checkDecoded(t, "http-equiv "+name, encode(t, name, meta), "text/html", name, text)
		late := "<html><head><script>" + strings.Repeat("var charset=1;", 400) + "</script><meta charset=" + name + ">" + plain
		checkDecoded(t, "late meta "+name, encode(t, name, late), "text/html", name, text)
		xml := "<?xml version='1.0' encoding='" + name + "'?><rss><title>" + text + "</title></rss>"
		checkDecoded(t, "xml "+name, encode(t, name, xml), "text/xml", name, text)
	}
}

func TestUndeclaredCharset(t *testing.T) {
	t.Parallel()
	for name, text := range scripts {
		if name == "gb18030" {
			continue // its bytes are GBK's here
		}
		want := name
		if name == "windows-1253" {
			want = "iso-8859-7" // the same letters
		}
		body := encode(t, name, "<html><head><title>x</title></head><body><p class=a>"+text+"</p><ul><li>"+text+"</li></ul></body></html>")
		checkDecoded(t, "undeclared "+name, body, "text/html", want, text)
	}
	for _, name := range []string{"gbk", "big5", "shift_jis", "euc-kr", "euc-jp"} {
		for _, n := range []int{4, 8, 14, 30} {
			text := string([]rune(scripts[name])[:n])
			body := encode(t, name, "<title>"+text+"</title>"+strings.Repeat("<script>var a = 1;</script>\n", 2000))
			checkDecoded(t, "a title only in "+name, body, "", name, text)
		}
	}
}

func TestCharsetConflicts(t *testing.T) {
	t.Parallel()
	gbk, utf, euc, win := scripts["gbk"], scripts["utf-8"], scripts["euc-kr"], scripts["windows-1252"]
	for _, tt := range []struct {
		what, header, page, in, want, text string
	}{
		{"wrong header, right meta", "text/html; charset=utf-8", "<meta charset=gb2312><p>" + gbk, "gbk", "gbk", gbk},
		{"wrong meta, right header", "text/html; charset=gbk", "<meta charset=utf-8><p>" + gbk, "gbk", "gbk", gbk},
		{"header latin1, page says and is utf-8", "text/html; charset=iso-8859-1", "<meta charset=utf-8><p>" + utf, "utf-8", "utf-8", utf},
		{"header utf-8, meta gbk, page utf-8", "text/html; charset=utf-8", "<meta charset=gbk><p>" + utf, "utf-8", "utf-8", utf},
		{"header alone is believed", "text/html; charset=iso-8859-1", "<p>" + win, "windows-1252", "windows-1252", win},
		{"wrong utf-8 alone", "text/html; charset=utf-8", "<p>" + euc + euc, "euc-kr", "euc-kr", euc},
		{"wrong utf-8 in meta alone", "text/html", "<meta charset=utf-8><p>" + gbk, "gbk", "gbk", gbk},
		{"unknown label", "text/html; charset=none-such", "<meta charset=big5><p>" + scripts["big5"], "big5", "big5", scripts["big5"]},
		{"meta utf-16 in ASCII is utf-8", "", "<meta charset=utf-16><p>" + utf, "utf-8", "utf-8", utf},
		{"first meta counts", "", "<meta charset=gbk><meta charset=big5><p>" + gbk, "gbk", "gbk", gbk},
		{"meta in a comment or a script does not", "", "<!-- <meta charset=big5> --><script>'<meta charset=big5>'</script><meta charset=gbk>" + gbk, "gbk", "gbk", gbk},
		{"http-equiv of something else does not", "", "<meta http-equiv=refresh content='0;charset=big5'><p>" + gbk, "gbk", "gbk", gbk},
		{"replacement encodings are not used", "text/html; charset=iso-2022-kr", "<p>plain", "utf-8", "utf-8", "plain"},
		{"ASCII", "", "<p>plain", "utf-8", "utf-8", "plain"},
		{"empty", "", "", "utf-8", "utf-8", ""},
	} {
		checkDecoded(t, tt.what, encode(t, tt.in, tt.page), tt.header, tt.want, tt.text)
	}
}

func TestByteOrderMarkDecides(t *testing.T) {
	t.Parallel()
	text := "<p>" + scripts["utf-16le"]
	for name, bom := range map[string]string{"utf-8": "\xef\xbb\xbf", "utf-16le": "\xff\xfe", "utf-16be": "\xfe\xff"} {
		body := append([]byte(bom), encode(t, name, text)...)
		r := &Response{Body: body, Header: http.Header{"Content-Type": {"text/html; charset=gbk"}}}
		if r.Text() != text || r.Encoding() != name {
			t.Errorf("%s: %s %q", name, r.Encoding(), r.Text())
		}
	}
}

func TestBrokenUTF8(t *testing.T) {
	t.Parallel()
	body := "<meta charset=utf-8><p>caf\xc3\xa9 na\xc3\xafve \xff d\xc3\xa9j\xc3\xa0"
	checkDecoded(t, "one broken byte", []byte(body), "text/html; charset=utf-8", "utf-8", "café naïve \uFFFD déjà")
}

// TestOneBrokenCharacter: a character that was cut in two makes no other charset of the page.
func TestOneBrokenCharacter(t *testing.T) {
	t.Parallel()
	gbk, win := scripts["gbk"], scripts["windows-1252"]
	for _, tt := range []struct {
		what, header, page, in, cut, text string
	}{
		{"undeclared utf-8", "text/html", "<p>" + gbk, "utf-8", "\xe5\x8c", gbk},
		{"undeclared JSON", "application/json", `{"a":"` + win, "utf-8", "\xc3", win},
		{"header utf-8, wrong meta", "text/html; charset=utf-8", "<meta charset=iso-8859-1><p>" + win, "utf-8", "\xc3", win},
		{"meta utf-8, wrong header", "text/html; charset=gbk", "<meta charset=utf-8><p>" + gbk, "utf-8", "\xe5\x8c", gbk},
		{"header gbk, wrong meta", "text/html; charset=gbk", "<meta charset=iso-8859-1><p>" + gbk, "gbk", "\xb1", gbk},
		{"meta gbk, wrong header", "text/html; charset=utf-8", "<meta charset=gbk><p>" + gbk, "gbk", "\xb1", gbk},
	} {
		checkDecoded(t, tt.what, append(encode(t, tt.in, tt.page), tt.cut+"</p>"...), tt.header, tt.in, tt.text)
	}
}

func TestUTF8IsNotCopied(t *testing.T) {
	body := []byte("<meta charset=utf-8><p>é")
	for _, contentType := range []string{"text/html; charset=utf-8", "text/html", ""} {
		if text, _ := decodeBody(body, contentType); &text[0] != &body[0] {
			t.Errorf("%q: the body was copied", contentType)
		}
	}
	n := testing.AllocsPerRun(100, func() { decodeBody(body, "text/html; charset=utf-8") })
	if n > 1 {
		t.Errorf("%v allocations for declared UTF-8", n)
	}
}

func FuzzDecodeBody(f *testing.F) {
	for name, text := range scripts {
		f.Add(encode(f, name, text), "text/html; charset="+name)
		f.Add(encode(f, name, "<meta charset="+name+">"+text), "")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		before := bytes.Clone(body)
		text, name := decodeBody(body, contentType)
		if name == "" || string(text) != strings.ToValidUTF8(string(text), "?") {
			t.Errorf("charset %q, text %q", name, text)
		}
		if !bytes.Equal(body, before) {
			t.Error("the body was changed")
		}
	})
}
