// Asks for the list and for /health at once, while the other modules are loaded.

import { now } from "./connection.js";
import { askHealth } from "./health.js";
import { askList } from "./lists.js";

export const first = { at: now(), list: askList(), health: askHealth() };
