"use strict";
{
  // A long text is scrolled to the first part of it that fails.
  const show = within => {
    for (const pre of within.querySelectorAll?.("pre:has(mark, .missing, .end)") ?? []) {
      const mark = pre.querySelector("mark, .missing, .end");
      pre.scrollTop = Math.max(0, mark.offsetTop - pre.offsetTop - 60);
    }
  };
  const go = step => {
    const all = [...document.querySelectorAll("details.failed")];
    if (!all.length) return;
    let at = all.indexOf(document.activeElement.closest("details.failed"));
    if (at < 0) {
      const below = all.findIndex(d => d.getBoundingClientRect().top > 0);
      at = (below < 0 ? all.length : below) - (step > 0 ? 1 : 0);
    }
    const to = all[(at + step + all.length) % all.length];
    for (let d = to; d; d = d.parentElement) if (d.matches("details")) d.open = true;
    to.firstElementChild.focus({ preventScroll: true });
    to.scrollIntoView();
  };
  const keys = {
    n: () => go(1),
    p: () => go(-1),
    f: () => document.getElementById("failures").click(),
    o: () => {
      const all = [...document.querySelectorAll("details.attempt")];
      const open = all.some(d => !d.open);
      for (const d of all) d.open = open;
    },
  };
  addEventListener("keydown", e => {
    if (e.target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
    if (!e.ctrlKey && !e.metaKey && !e.altKey && keys[e.key]) keys[e.key]();
  });
  // A link to something folded opens it.
  const unfold = () => {
    const to = document.getElementById(location.hash.slice(1));
    for (let d = to; d; d = d.parentElement) if (d.matches("details")) d.open = true;
    if (to) to.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
  // The list of turns marks the one on screen.
  const links = new Map([...document.querySelectorAll(".rail li a")].map(a => [a.hash.slice(1), a]));
  const seen = new IntersectionObserver(all => {
    for (const e of all) {
      if (e.isIntersecting) links.get(e.target.id).setAttribute("aria-current", "true");
      else links.get(e.target.id).removeAttribute("aria-current");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  for (const id of links.keys()) seen.observe(document.getElementById(id));
  addEventListener("toggle", e => show(e.target), true);
  show(document);
  document.getElementById("keys").hidden = false;
}
