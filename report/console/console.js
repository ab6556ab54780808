{
  const by = id => document.getElementById(id);
  const live = by("live"), list = by("list"), moved = by("moved");

  let paused = false, source = null, ahead = 0, heard = Date.now(), changes = 0, unread = "";
  const now = () => Date.now() + ahead;
  const tick = () => {
    if (paused || document.hidden) return;
    if (Date.now() - heard > 10000) {
      say("not live since " + new Date(heard).toISOString().slice(11, 19) + " UTC");
      return;
    }
    for (const t of document.querySelectorAll("i")) {
      const since = Number(t.dataset.t), until = Number(t.dataset.u);
      const text = since ? rough(now() - since) : until > now() ? "(" + rough(until - now()) + " left)" : "";
      if (t.textContent !== text) t.textContent = text;
      if (t.dataset.a) t.classList.toggle("soon", until > now() && until - now() < (until - t.dataset.a) / 10);
    }
    say("live, heard " + rough(Date.now() - heard) + " ago");
  };
  const status = document.createElement("span"), button = document.createElement("button");
  const say = text => { if (status.textContent !== text) status.textContent = text; };

  let polite = 0, questions = null;
  const ask = n => {
    if (by("asking")) by("asking").textContent = n;
    if (questions !== null && n > questions && Date.now() - polite > 10000) {
      polite = Date.now();
      by("polite").textContent = (n - questions) + " new, " + n + " wait for a person";
    }
    questions = n;
  };

  // A card whose question is over stays, with what was typed, and answers nothing any more.
  const cards = [...document.querySelectorAll(".card")], known = new Set(cards.map(c => c.id));
  const told = {}, came = by("came");
  let there = null;
  const inbox = said => {
    const first = !there;
    if (said.whole) there = {};
    Object.assign(there, said.questions);
    for (const id of said.gone ?? []) delete there[id];
    if (first && document.querySelector(".pages")) for (const id in there) known.add(id);
    const is = came && said.came?.[came.dataset.of];
    if (is && came.lastElementChild.textContent !== is) came.lastElementChild.textContent = is;
    for (const c of cards) {
      const given = c.querySelector(".given"), form = c.querySelector("form"), note = c.querySelector(".told");
      if (said.came?.[c.id]) told[c.id] = said.came[c.id];
      const text = there[c.id] ?? told[c.id] ?? (given ? "The run has taken it." : "No longer asked: it was answered, or the run has moved on.");
      if (!text || !form && c.id in there) continue;
      note.textContent = text.replace(/[^.]$/, "$&.") + (form ? " What you typed stays here." : "");
      note.hidden = false;
      const focused = form?.contains(document.activeElement) && document.activeElement.matches("button");
      for (const b of form?.querySelectorAll("button") ?? []) b.dataset.off = b.disabled = true;
      if (focused) c.focus({ preventScroll: true });
    }
    if (!moved) return;
    const fresh = Object.keys(there).filter(id => !known.has(id)).length;
    moved.hidden = !fresh;
    if (fresh) by("none")?.remove();
    moved.firstElementChild.textContent = fresh + (fresh === 1 ? " new question" : " new questions");
  };

  // How many rows belong elsewhere in an order, or are no longer or not yet there.
  const misplaced = order => {
    const rows = [...document.querySelectorAll("#list tr[id]")].map(row => row.id);
    const before = rows.filter(key => order.includes(key)), after = order.filter(key => rows.includes(key));
    return before.filter((key, n) => after[n] !== key).length + rows.length + order.length - 2 * after.length;
  };
  const warn = () => {
    const note = by("unread");
    if (note.textContent !== unread) note.textContent = unread;
    note.hidden = !unread;
  };
  const change = e => {
    heard = Date.now();
    warn();
    const said = JSON.parse(e.data);
    ahead = said.now - heard;
    document.title = said.title;
    ask(said.asking);
    if (said.all) by("all").textContent = said.all;
    const counts = document.querySelectorAll(".chips b");
    (said.counts ?? []).forEach((n, at) => { if (counts[at]) counts[at].textContent = n; });
    for (const [key, html] of Object.entries(said.rows ?? {})) {
      const row = by(key);
      if (!row) continue;
      const focused = row.contains(document.activeElement);
      row.innerHTML = html;
      if (focused) row.querySelector("a").focus({ preventScroll: true });
      if (changes) {
        row.classList.remove("new");
        void row.offsetWidth;
        row.classList.add("new");
      }
    }
    changes++;
    if (said.questions) inbox(said);
    else if (moved && said.order) {
      const n = misplaced(said.order);
      moved.hidden = !n;
      moved.firstElementChild.textContent = n + (n === 1 ? " row belongs" : " rows belong") + " elsewhere now";
    }
    tick();
  };
  const open = () => {
    if (source || paused || document.hidden) return;
    source = new EventSource(live.dataset.live);
    source.onopen = () => { unread = ""; };
    source.addEventListener("change", change);
    source.addEventListener("unread", e => {
      unread = JSON.parse(e.data);
      warn();
    });
    source.onerror = () => { // a browser tries again by itself, but not after an answer that is no stream
      if (source?.readyState !== EventSource.CLOSED) return;
      close();
      setTimeout(open, 5000);
    };
  };
  const close = () => { source?.close(); source = null; };
  if (live?.dataset.live) {
    button.type = "button";
    button.textContent = "Pause";
    button.onclick = () => {
      paused = !paused;
      button.textContent = paused ? "Go on" : "Pause";
      if (paused) { close(); say("paused"); } else open();
    };
    live.replaceChildren(status, " ", button);
    document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else open(); });
    open();
    setInterval(tick, 1000);
  }

  // After an answer the next question has the focus, as the address says, and else what is said of the answer.
  // One that was not sent leads to what is wrong with it.
  const next = by(location.hash.slice(1))?.querySelector("h2");
  if (came && !next) came.focus();
  if (came) by("polite").textContent = came.textContent + (next ? ". Next: " + next.textContent : "");
  else if (!moved && cards.length) {
    const wrong = document.querySelector("[aria-invalid]") ?? cards[0];
    (wrong.matches(".radios") ? wrong.querySelector(":checked") ?? wrong.querySelector("input") : wrong).focus();
  }

  // A click that was meant for another page answers nothing.
  const answers = document.querySelectorAll(".buttons button");
  for (const b of answers) b.disabled = true;
  setTimeout(() => { for (const b of answers) b.disabled = !!b.dataset.off; }, 700);

  // Ready words are filled in without asking the server, and the button says what was changed.
  // What was typed and not sent is there again when the question is; what is hidden is kept nowhere.
  let kept = {};
  try { kept = sessionStorage; } catch { /* nothing is kept */ }
  for (const f of document.querySelectorAll("form.answer")) {
    let sent = 0;
    f.onsubmit = e => { // a second click is no second answer
      if (Date.now() - sent < 5000) e.preventDefault(); else sent = Date.now();
    };
    for (const d of f.querySelectorAll("[name=draft]"))
      d.onclick = e => { e.preventDefault(); f.elements.words.value = d.textContent; f.elements.words.focus(); };
    const yes = f.querySelector("[value=approve] span"), effect = yes?.textContent;
    const was = x => x.dataset.was ?? x.defaultValue, says = (x, text) => x.type === "radio" && !text ? "left out" : text;
    const isTyped = x => x.type !== "submit" && x.value !== was(x) && (x.type !== "radio" || x.checked);
    const isChanged = x => x.name.startsWith("a/") && isTyped(x);
    if (yes) f.oninput = () => {
      const changed = [...f.elements].filter(isChanged);
      yes.textContent = !changed.length ? effect : "Send changed: " +
        changed.map(x => x.type === "password" ? x.name.slice(2) : x.name.slice(2) + " " + says(x, was(x)) + " → " + says(x, x.value)).join(", ").slice(0, 200);
    };
    const at = "typed " + f.closest(".card").id;
    for (const [name, value] of JSON.parse(kept[at] ?? "[]")) if (f.elements[name]) f.elements[name].value = value;
    f.oninput?.();
    addEventListener("pagehide", () => {
      kept[at] = JSON.stringify([...f.elements].filter(x => isTyped(x) && x.type !== "password").map(x => [x.name, x.value]));
    });
  }

  // On a phone a row shows the rest of itself when it is tapped.
  list?.addEventListener("click", e => { if (!e.target.closest("a")) e.target.closest("tr[id]")?.classList.toggle("open"); });

  // A choice filters at once.
  for (const select of document.querySelectorAll(".filters select")) select.onchange = () => select.form.requestSubmit();

  // No key answers a question.
  const step = n => {
    const all = [...document.querySelectorAll("#list td:nth-child(2) a, .card dd:first-of-type a")];
    const at = all.findIndex(a => a.closest("tr, .card").contains(document.activeElement));
    all[Math.min(all.length - 1, Math.max(0, at + n))]?.focus();
  };
  const keys = {
    "/": () => by("q")?.focus(),
    j: () => step(1),
    k: () => step(-1),
    r: () => { if (moved && !moved.hidden) location.reload(); },
    i: () => { location.href = "inbox"; },
    l: () => { location.href = "./"; },
    "?": () => { by("keys").open = !by("keys").open; by("keys").firstElementChild.focus(); },
  };
  onKeys(keys, by("keyed"));
  if (by("keys")) by("keys").hidden = false;
}
