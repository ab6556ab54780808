{
  // A page that is live takes up what is new, and leaves folds, scroll and focus as they are.
  const byId = id => document.getElementById(id), live = byId("live"), parse = new DOMParser();
  let busy = false, again = false, source = null, paused = false;
  // What was heard last, which is told again every 5 seconds while nothing changes, when that was, and the
  // lines of the journal on the page.
  let heard = null, heardAt = Date.now(), shown = Number(live.dataset.lines), ahead = Number(live.dataset.now) - heardAt;
  // What was added below, which stores cannot be read, and why the page cannot.
  let below = "", unread = "", wrong = "";
  const button = document.createElement("button");
  const say = () => {
    const late = Date.now() - heardAt > 10000;
    const text = paused ? "paused" : late ? "not live since " + new Date(heardAt).toISOString().slice(11, 19) + " UTC" : unread || wrong || "live" + below;
    if (live.firstChild.textContent !== text + " ") live.firstChild.textContent = text + " ";
  };
  const end = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 40;
  const title = d => d.dataset.n + d.firstElementChild?.textContent;
  const stays = (part, was) => part.dataset.later && "got" in was.dataset && title(part) === title(was);
  // Folds are as they were, what was fetched for them stays, and a new group is open if one of its turns was.
  const refold = part => {
    for (const d of [part, ...part.querySelectorAll("details[id]")]) {
      const was = byId(d.id);
      if (!was?.matches("details")) continue;
      d.open = was.open;
      if (d !== part && stays(d, was)) d.replaceWith(was.cloneNode(true));
    }
    if (part.matches(".group") && !byId(part.id) && part.querySelector("details[id][open]:not(.failed)")) part.open = true;
  };
  // The focus is then where it was in what is replaced.
  const swap = (was, is) => {
    const inside = part => [...part.querySelectorAll("a, summary, button, input, [tabindex]")];
    const n = inside(was).indexOf(document.activeElement);
    was.replaceWith(is);
    if (n >= 0) (inside(is)[n] ?? inside(is).at(-1))?.focus({ preventScroll: true });
  };
  const fill = (to, from) => {
    let last = null;
    for (const part of [...from.children]) {
      const was = part.id && byId(part.id);
      if (!part.id) continue;
      if (was && !stays(part, was)) {
        refold(part);
        if (was.outerHTML !== part.outerHTML) swap(was, part);
      } else if (!was) {
        refold(part);
        if (last) last.after(part); else to.append(part);
      }
      last = byId(part.id);
    }
    for (const part of [...to.children]) if (part.id && !from.ids.has(part.id)) part.remove();
  };
  const load = async () => {
    if (busy) { again = true; return; }
    busy = true;
    const follow = end(), before = document.querySelectorAll("details.attempt").length;
    try {
      const page = parse.parseFromString(await (await fetch(location.href)).text(), "text/html");
      if (!page.getElementById("live")) throw page.body.textContent;
      wrong = "";
      shown = Number(page.getElementById("live").dataset.lines);
      const was = document.querySelectorAll("article"), now = page.querySelectorAll("article");
      now.forEach((run, n) => {
        if (!was[n]) { byId("main").append(run); return; }
        run.ids = new Set([...run.children].map(part => part.id));
        fill(was[n], run);
      });
      const rail = document.querySelector(".rail details"), list = page.querySelector(".rail details");
      if (rail && list) { list.open = rail.open; swap(rail, list); }
      const says = byId("says"), newly = page.getElementById("says");
      if (says.outerHTML !== newly.outerHTML) swap(says, newly);
      const left = [...page.querySelectorAll(".waiting")].map((w) => w.textContent);
      for (const w of document.querySelectorAll(".waiting")) if (!left.includes(w.textContent)) w.remove();
      if (!page.getElementById("say") && !byId("say-text")?.value) byId("say")?.remove();
      byId("find")?.dispatchEvent(new Event("input"));
      const more = document.querySelectorAll("details.attempt").length - before;
      if (follow) scrollTo(0, document.documentElement.scrollHeight);
      below = more > 0 && !follow ? ", " + more + " new below" : "";
    } catch (why) { // the next event says it again
      heard = "";
      if (typeof why === "string") wrong = why.trim();
    } finally {
      busy = false;
      say();
      if (again) { again = false; load(); }
    }
  };
  // How long ago the latest event was.
  const last = byId("last");
  const tick = () => {
    if (!button.isConnected || document.hidden) return;
    say();
    if (source && last?.dataset.t) last.textContent = rough(Date.now() + ahead - last.dataset.t);
  };
  const open = () => {
    if (source || paused || document.hidden) return;
    source = new EventSource(live.dataset.live);
    source.onopen = () => { unread = ""; };
    source.addEventListener("change", e => {
      const said = JSON.parse(e.data);
      heardAt = Date.now();
      if (!said) {
        close();
        live.textContent = "The session is gone: it was deleted. ";
        return;
      }
      ahead = said.now - Date.now();
      if (last) last.dataset.t = said.last;
      tick();
      const is = [said.state, said.why, said.lines, said.agents].join();
      if (said.lines > shown || heard !== null && heard !== is) load();
      heard = is;
    });
    source.addEventListener("unread", e => {
      unread = JSON.parse(e.data);
      say();
    });
    source.onerror = () => { // a browser tries again by itself, but not after an answer that is no stream
      if (source?.readyState !== EventSource.CLOSED) return;
      close();
      setTimeout(open, 5000);
    };
  };
  const close = () => { source?.close(); source = null; };
  button.type = "button";
  button.textContent = "Pause";
  button.onclick = () => {
    paused = !paused;
    button.textContent = paused ? "Go on" : "Pause";
    if (paused) close(); else open();
    say();
  };
  live.replaceChildren("live ", button);
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else open(); });
  open();
  setInterval(tick, 1000);
}
