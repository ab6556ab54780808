"use strict";
// Durations in at most two units, as the server writes them.
const rough = ms => {
  const s = Math.max(0, Math.floor(ms / 1000)), two = n => String(n).padStart(2, "0");
  for (const [size, big, unit, small] of [[86400, "d", 3600, "h"], [3600, "h", 60, "m"], [60, "m", 1, "s"]])
    if (s >= size) return Math.floor(s / size) + big + two(Math.floor(s % size / unit)) + small;
  return s + "s";
};
