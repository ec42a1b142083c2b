// Requests the list and /health at once, while the other modules load.

import { now } from "./connection.js";
import { askHealth } from "./health.js";
import { askList } from "./lists.js";

const market = new URLSearchParams(location.search).get("market") ?? undefined;

export const first = { at: now(), market, list: askList(market), health: askHealth() };
