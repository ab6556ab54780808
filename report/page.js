{
  // A long text is scrolled to the first part of it that fails.
  const show = within => {
    for (const pre of within.querySelectorAll?.("pre:has(mark, .end)") ?? []) {
      const mark = pre.querySelector("mark, .end");
      pre.scrollTop = Math.max(0, mark.offsetTop - pre.offsetTop - 60);
    }
  };
  const byId = id => document.getElementById(id);
  const hashOf = at => { try { return decodeURIComponent(at.hash.slice(1)); } catch { return ""; } };
  const failed = "details.failed", turns = ":is(article, .agent) > :is(.attempt, .group)";
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
    l: () => byId("home")?.click(),
    i: () => (byId("answer") ?? byId("inbox"))?.click(),
    f: () => byId("failures").click(),
    "/": () => byId("find").focus(),
    "?": () => { byId("keys").open = !byId("keys").open; byId("keys").firstElementChild.focus(); },
    o: () => {
      const all = [...document.querySelectorAll("details.attempt:not([data-later])")];
      const open = all.some(d => !d.open);
      for (const d of all) d.open = open;
    },
  };
  onKeys(keys, byId("keyed"));
  addEventListener("click", e => { if (e.target.matches?.(".opens")) keys.o(); });
  // Turns without the text that is looked for are hidden, and so are their lines in the list.
  byId("find")?.addEventListener("input", () => {
    const text = byId("find").value.trim().toLowerCase();
    for (const d of document.querySelectorAll(turns)) d.hidden = !d.textContent.toLowerCase().includes(text);
    for (const a of railed()) a.parentElement.hidden = !!byId(hashOf(a))?.hidden;
    look();
  });
  const railed = () => [...document.querySelectorAll(".rail ol > li > a")];
  // What the page leaves out is fetched when it is opened.
  const fetched = async d => {
    const at = d.dataset.later;
    delete d.dataset.later;
    const text = await fetch(at).then(a => a.text()).catch(() => "");
    const got = new DOMParser().parseFromString(text, "text/html").getElementById(d.id);
    if (!d.isConnected) return;
    if (!got) {
      d.dataset.later = at;
      d.querySelector(".note a").textContent = "It could not be fetched. Open it again, or follow this link.";
      return;
    }
    got.open = true;
    got.dataset.got = "";
    got.dataset.n = d.dataset.n;
    const focused = d.contains(document.activeElement);
    d.replaceWith(got);
    look();
    if (focused) got.firstElementChild.focus({ preventScroll: true });
    if (got.contains(byId(hashOf(location)))) unfold();
  };
  // What is left out stands in the part before it, or for a turn of an agent in that of its call.
  const within = id => {
    const around = railed().find(a => hashOf(a) === id)?.closest("ul")?.closest("li").firstElementChild;
    if (around) return byId(hashOf(around)) ?? within(hashOf(around));
    const [run, n] = id.split("-");
    const before = d => d.id.startsWith(run + "-") && Number(d.id.split("-")[1]) <= Number(n);
    return [...document.querySelectorAll("[data-later]")].findLast(before) ?? byId(run);
  };
  // A link to something folded opens it.
  const unfold = () => {
    const id = hashOf(location), to = byId(id) ?? within(id);
    for (let d = to; d; d = d.parentElement) if (d.matches("details")) d.open = true;
    if (to) to.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
  // The list of turns marks the one on screen.
  const links = new Map();
  const seen = new IntersectionObserver(all => {
    for (const e of all) {
      if (e.isIntersecting) links.get(e.target)?.setAttribute("aria-current", "true");
      else links.get(e.target)?.removeAttribute("aria-current");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  const look = () => {
    seen.disconnect();
    links.clear();
    for (const a of railed()) {
      const to = byId(hashOf(a));
      if (to) links.set(to, a) && seen.observe(to);
    }
  };
  look();
  addEventListener("toggle", e => {
    if (e.target.open && e.target.dataset.later) fetched(e.target);
    show(e.target);
  }, true);
  show(document);
  document.documentElement.classList.add("scripted");
}
