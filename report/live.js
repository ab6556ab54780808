"use strict";
{
  // A page that is live takes up what is new, and leaves folds, scroll and focus as they are.
  const live = document.getElementById("live"), parse = new DOMParser();
  let busy = false, again = false, source = null, paused = false;
  // What was heard last, which is told again while nothing changes, and the lines of the journal on the page.
  let heard = null, shown = Number(live.dataset.lines);
  const end = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 40;
  const fill = (to, from) => {
    for (const d of to.querySelectorAll("details[id]")) {
      const now = from.querySelector("#" + CSS.escape(d.id));
      if (now) now.open = d.open;
    }
    for (const now of [...from.querySelectorAll("details.attempt, details.group, .rail li")]) {
      if (now.parentElement.closest("details.group")) continue;
      const was = now.id && document.getElementById(now.id);
      if (was && was.outerHTML !== now.outerHTML) was.replaceWith(now);
    }
  };
  const load = async () => {
    if (busy) { again = true; return; }
    busy = true;
    const follow = end(), before = document.querySelectorAll("details.attempt").length;
    try {
      const page = parse.parseFromString(await (await fetch(location.href)).text(), "text/html");
      shown = Number(page.getElementById("live").dataset.lines);
      const was = document.querySelectorAll("article"), now = page.querySelectorAll("article");
      now.forEach((run, n) => {
        if (!was[n]) { document.getElementById("main").append(run); return; }
        for (const part of run.children) {
          const there = part.id && document.getElementById(part.id);
          if (part.id && !there) was[n].querySelector(".policies").before(part.cloneNode(true));
        }
        for (const name of [".outcome", ".spent", ".chart"]) {
          const a = was[n].querySelector(name), b = run.querySelector(name);
          if (a && b && a.outerHTML !== b.outerHTML) a.replaceWith(b.cloneNode(true));
          else if (!a && b) was[n].querySelector(".outcome").after(b.cloneNode(true));
        }
        fill(was[n], run);
      });
      const rail = document.querySelector(".rail details"), list = page.querySelector(".rail details");
      if (rail && list) { list.open = rail.open; rail.replaceWith(list); }
      const says = document.getElementById("says"), newly = page.getElementById("says");
      if (says.outerHTML !== newly.outerHTML) says.replaceWith(newly);
      const left = [...page.querySelectorAll(".waiting")].map((w) => w.textContent);
      for (const w of document.querySelectorAll(".waiting")) if (!left.includes(w.textContent)) w.remove();
      if (!page.getElementById("say")) document.getElementById("say")?.remove();
      const more = document.querySelectorAll("details.attempt").length - before;
      if (follow) scrollTo(0, document.documentElement.scrollHeight);
      live.firstChild.textContent = "live" + (more > 0 && !follow ? ", " + more + " new below " : " ");
    } finally {
      busy = false;
      if (again) { again = false; load(); }
    }
  };
  const open = () => {
    if (source || paused || document.hidden) return;
    source = new EventSource(live.dataset.live);
    source.addEventListener("change", e => {
      const said = JSON.parse(e.data);
      if (!said) {
        close();
        live.textContent = "The session is gone: it was deleted. ";
        return;
      }
      if (said.lines > shown || heard !== null && heard !== e.data) load();
      heard = e.data;
    });
    source.onerror = () => { live.firstChild.textContent = "not live "; };
    source.onopen = () => { live.firstChild.textContent = "live "; };
  };
  const close = () => { source?.close(); source = null; };
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Pause";
  button.onclick = () => {
    paused = !paused;
    button.textContent = paused ? "Go on" : "Pause";
    live.firstChild.textContent = paused ? "paused " : "live ";
    if (paused) close(); else open();
  };
  live.replaceChildren("live ", button);
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else open(); });
  open();
}
