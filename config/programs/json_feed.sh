#!/bin/sh
# Polls a JSON feed and prints its matches as a complete list: json_feed.sh URL SECONDS. The feed is like
# {"events":[{"id":7,"teams":["Leeds","Hull"],"kickoff":"2026-11-22T15:00:00Z","prices":{"1":2.1,"X":3.4,"2":3.6}}]}
number=0
while :; do
    number=$((number + 1))
    curl -sS --fail --max-time 10 "$1" | jq -c --arg id "$number" '{
        type: "list", list: "feed", id: $id,
        matches: [.events[] | {
            match: (.id | tostring), home: .teams[0], away: .teams[1], start: .kickoff,
            odds: {one: .prices["1"], draw: .prices["X"], two: .prices["2"]}
        }]
    }'
    sleep "$2"
done
