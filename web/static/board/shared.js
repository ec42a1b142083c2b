// A SharedWorker: one connection for all tabs of a browser that follow a market, none without tabs.

import { Connection } from "./connection.js";

const GONE_MS = 150_000; // a tab writes every few seconds, a hidden tab every minute, a crashed tab no more

const lines = new Map(); // by market

/** The tabs that follow a market: their ports, and the time of each tab's last message. */
class Line {
    #tabs = new Map();
    #connection;

    constructor(market) {
        this.#connection = new Connection(
            (message) => this.#tabs.forEach((_, port) => port.postMessage(message)),
            market,
        );
    }

    follow(port, id) {
        const isNew = !this.#tabs.has(port);
        this.#tabs.set(port, performance.now());
        if (!this.#connection.isFollowing) this.#connection.follow(id);
        else if (isNew) port.postMessage(this.#connection.newest);
    }

    leave(port) {
        if (this.#tabs.delete(port) && this.#tabs.size === 0) this.#connection.leave();
    }

    forget() {
        this.#tabs.forEach((at, port) => performance.now() - at > GONE_MS && this.leave(port));
    }

    reconnect() {
        this.#connection.reconnect();
    }

    restart() {
        this.#connection.restart();
    }
}

function lineOf(market) {
    if (!lines.has(market)) lines.set(market, new Line(market));
    return lines.get(market);
}

const actions = {
    follow: (line, port, { id }) => line.follow(port, id),
    leave: (line, port) => line.leave(port),
    reconnect: (line) => line.reconnect(),
    restart: (line) => line.restart(),
};

addEventListener("connect", ({ ports: [port] }) => {
    port.onmessage = ({ data }) => actions[data.action](lineOf(data.market), port, data);
});
setInterval(() => lines.forEach((line) => line.forget()), GONE_MS / 3);
