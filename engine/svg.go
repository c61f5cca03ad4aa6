package engine

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// svgElements are the elements that growDocument takes in an svg: the ones that icons are drawn with. None of them is renamed or
// ends the svg by the rules of WHATWG HTML, 13.2.6.5.
var svgElements = wordSet("svg g defs symbol use path circle ellipse line polygon polyline rect stop text title")

// svgAttributes are the attributes that it takes, by their names in lower case.
var svgAttributes = wordSet("class id style width height x y x1 x2 y1 y2 cx cy r rx ry d points transform fill stroke opacity offset " +
	"fill-rule fill-opacity clip-rule clip-path stroke-width stroke-linecap stroke-linejoin stroke-opacity stroke-miterlimit " +
	"stroke-dasharray stop-color role version focusable title href tabindex display overflow " +
	"aria-hidden aria-label aria-labelledby aria-describedby xmlns viewbox preserveaspectratio xlink:href xml:space xmlns:xlink")

// svgRenamed are the attributes that get their capitals back.
var svgRenamed = map[string]string{"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio"}

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// startInSVG takes a start tag in an svg.
func (g *grower) startInSVG() bool {
	if !svgElements[g.data] || g.top().DataAtom == atom.Title {
		return false // in a title HTML begins again
	}
	return g.addForeign()
}

// addForeign adds an element of SVG.
func (g *grower) addForeign() bool {
	for i := range g.attr {
		if !svgAttributes[g.attr[i].Key] {
			return false
		}
		adjustSVG(&g.attr[i])
	}
	n := g.addElement()
	n.Namespace = "svg"
	return g.self || g.push(n)
}

// adjustSVG gives an attribute the name and namespace that it has in SVG.
func adjustSVG(a *html.Attribute) {
	if name, ok := svgRenamed[a.Key]; ok {
		a.Key = name
	} else if space, name, ok := strings.Cut(a.Key, ":"); ok {
		a.Namespace, a.Key = space, name
	}
}
