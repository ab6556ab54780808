"use strict";
// Durations in at most two units, as the server writes them.
const rough = ms => {
  const s = Math.max(0, Math.floor(ms / 1000)), two = n => String(n).padStart(2, "0");
  for (const [size, big, unit, small] of [[86400, "d", 3600, "h"], [3600, "h", 60, "m"], [60, "m", 1, "s"]])
    if (s >= size) return Math.floor(s / size) + big + two(Math.floor(s % size / unit)) + small;
  return s + "s";
};
// Keys do what they say unless somebody types, or has switched them off, which holds for all pages.
const onKeys = (keys, box) => {
  const off = "retake-no-keys";
  let kept = {};
  try { kept = localStorage; } catch { /* a page in a sandbox keeps nothing */ }
  if (!box) return;
  box.checked = !kept[off];
  box.onchange = () => { if (box.checked) delete kept[off]; else kept[off] = 1; };
  addEventListener("keydown", e => {
    if (e.target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
    if (!box.checked || e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    keys[e.key]();
    e.preventDefault();
  });
};
