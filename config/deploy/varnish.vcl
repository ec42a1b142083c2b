vcl 4.1;
# oddsboard behind Varnish (7 or newer), with nginx or instead of it: lists are cached for a second, and equal requests
# wait for one answer. Varnish has no TLS: put nginx or hitch in front of it. docs/operations.md explains it.
# The service's configuration needs `trusted_proxies = ["127.0.0.1"]` in [limits].

import std;

backend oddsboard {
    .host = "127.0.0.1";
    .port = "8000";
    .connect_timeout = 1s;
    .first_byte_timeout = 40s;      # a wait for changes takes up to 30 s
    .between_bytes_timeout = 40s;   # streams are never silent for longer than 10 s
    .max_connections = 900;         # below max_connections + max_streams of the service
}

sub vcl_recv {
    if (req.method != "GET" && req.method != "HEAD" && req.method != "OPTIONS") {
        return (synth(405));
    }
    # Not public, in any spelling. Operators and a Prometheus reach the service itself. For clients that must come
    # through Varnish, declare `acl scrapers { "192.0.2.7"; }` above and add `&& client.ip !~ scrapers`.
    if (req.url ~ "(?i)^/(m|%6d)(e|%65)(t|%74)(r|%72)(i|%69)(c|%63)(s|%73)(\?|$)" ||
        req.url ~ "(?i)^/(m|%6d)(o|%6f)(n|%6e)(i|%69)(t|%74)(o|%6f)(r|%72)(/|%2f|\?|$)" ||
        req.url ~ "(?i)^/(a|%61)(p|%70)(i|%69)(/|%2f)(s|%73)(t|%74)(a|%61)(t|%74)(s|%73)(\?|$)") {
        return (synth(404));
    }
    if (req.method == "OPTIONS") {
        return (pass);
    }
    # Streams are piped: each event at once.
    if (req.url ~ "^/api/v2/stream(\?|$)") {
        return (pipe);
    }
    # Lists and the page, without a query or with only a bookmaker, so that nobody fills the cache with others.
    if (req.url ~ "^/(api/odds|api/v2/odds|api/v2/fixtures|api/v2/surebets)?(\?bookmaker=[a-z0-9-]+)?$"
        || req.url ~ "^/static/[a-z-]+\.[a-z]+$") {
        return (hash);
    }
    # Waits for changes of whole seconds, but not of one second: an answer without changes would also answer the next
    # request.
    if (req.url ~ "^/api/v2/changes\?((since|view|bookmaker|wait)=[0-9A-Za-z-]+(&|$))+$"
        && req.url ~ "[?&]wait=([2-9]|[12][0-9]|30)(&|$)") {
        return (hash);
    }
    return (pass);
}

sub vcl_pipe {
    set bereq.http.Connection = "close";
}

# An answer serves only requests of its own second, so that nothing is shown for longer.
sub vcl_hash {
    hash_data(std.time2integer(now, 0));
}

sub vcl_backend_response {
    set beresp.grace = 0s;
    set beresp.keep = 0s;
    # The service's no-cache is for clients. X-Accel-Expires: 0 means that a price is about to leave; then for a second
    # each request gets its own answer, and none waits for another.
    if (bereq.uncacheable || beresp.http.X-Accel-Expires == "0"
        || (beresp.status != 200
            && !(bereq.url ~ "^/api/v2/changes" && (beresp.status == 410 || beresp.status == 503)))) {
        set beresp.uncacheable = true;
        set beresp.ttl = 1s;
        return (deliver);
    }
    set beresp.ttl = 1s;
    unset beresp.http.RateLimit;         # belongs to the first request
    unset beresp.http.RateLimit-Policy;
    return (deliver);                    # before Varnish's own rules, which would not cache because of no-cache
}

sub vcl_deliver {
    unset resp.http.X-Accel-Expires;
    unset resp.http.X-Varnish;
    unset resp.http.Via;
}

# Varnish's own refusals: a problem document, like all errors.
sub vcl_synth {
    set resp.http.Content-Type = "application/problem+json";
    set resp.http.Cache-Control = "no-store";
    set resp.http.Access-Control-Allow-Origin = "*";
    set resp.http.X-Code = "not_found";
    if (resp.status == 405) {
        set resp.http.Allow = "GET, HEAD, OPTIONS";
        set resp.http.X-Code = "method_not_allowed";
    }
    set resp.body = {"{"type":"about:blank","title":""} + resp.reason + {"","code":""} + resp.http.X-Code
        + {"","instance":"","detail":"refused","request_id":"varnish-"} + req.xid + {"","status":"} + resp.status + "}";
    unset resp.http.X-Code;
    return (deliver);
}

# While the service is down or restarts: a problem document for all requests that wait for this answer.
sub vcl_backend_error {
    set beresp.status = 503;
    set beresp.http.Content-Type = "application/problem+json";
    set beresp.http.Cache-Control = "no-store";
    set beresp.http.Access-Control-Allow-Origin = "*";
    set beresp.http.Retry-After = "1";
    set beresp.body = {"{"type":"about:blank","title":"Service Unavailable","code":"overloaded","instance":"","}
        + {""detail":"please try again","request_id":"varnish-"} + bereq.xid + {"","status":503}"};
    return (deliver);
}
