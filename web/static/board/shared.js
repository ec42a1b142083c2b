// A SharedWorker: one connection for all tabs of a browser that follow the stream, and none for none.

import { Connection } from "./connection.js";

const GONE_MS = 150_000; // a tab writes every few seconds, hidden every minute, and crashed no more

const tabs = new Map(); // the ports of the tabs that follow, and when each wrote last
const connection = new Connection((message) => tabs.forEach((_, port) => port.postMessage(message)));

const actions = {
    follow(port, { id }) {
        const isNew = !tabs.has(port);
        tabs.set(port, performance.now());
        if (!connection.isFollowing) connection.follow(id);
        else if (isNew) port.postMessage(connection.newest);
    },
    leave: drop,
    reconnect: () => connection.reconnect(),
    restart: () => connection.restart(),
};

function drop(port) {
    if (tabs.delete(port) && tabs.size === 0) connection.leave();
}

addEventListener("connect", ({ ports: [port] }) => {
    port.onmessage = ({ data }) => actions[data.action](port, data);
});
setInterval(() => {
    tabs.forEach((at, port) => performance.now() - at > GONE_MS && drop(port));
}, GONE_MS / 3);
