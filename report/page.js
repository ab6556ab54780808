"use strict";
{
  // A long text is scrolled to the first part of it that fails.
  const show = within => {
    for (const pre of within.querySelectorAll?.("pre:has(mark, .missing, .end)") ?? []) {
      const mark = pre.querySelector("mark, .missing, .end");
      pre.scrollTop = Math.max(0, mark.offsetTop - pre.offsetTop - 60);
    }
  };
  const failed = "details.failed", turns = "article > details:not(.policies)";
  const go = (step, of) => {
    const all = [...document.querySelectorAll(of)].filter(d => d.checkVisibility());
    if (!all.length) return;
    let at = all.indexOf(document.activeElement.closest(of));
    if (at < 0) {
      const below = all.findIndex(d => d.getBoundingClientRect().top > 0);
      at = (below < 0 ? all.length : below) - (step > 0 ? 1 : 0);
    }
    const to = all[(at + step + all.length) % all.length];
    if (of === failed) for (let d = to; d; d = d.parentElement) if (d.matches("details")) d.open = true;
    to.firstElementChild.focus({ preventScroll: true });
    to.scrollIntoView();
  };
  const keys = {
    n: () => go(1, failed),
    p: () => go(-1, failed),
    j: () => go(1, turns),
    k: () => go(-1, turns),
    G: () => scrollTo(0, document.documentElement.scrollHeight),
    l: () => document.getElementById("home")?.click(),
    i: () => document.getElementById("answer")?.click(),
    f: () => document.getElementById("failures").click(),
    o: () => {
      const all = [...document.querySelectorAll("details.attempt")];
      const open = all.some(d => !d.open);
      for (const d of all) d.open = open;
    },
  };
  addEventListener("keydown", e => {
    if (e.target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
    if (document.getElementById("keyed")?.checked && !e.ctrlKey && !e.metaKey && !e.altKey && keys[e.key]) keys[e.key]();
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
