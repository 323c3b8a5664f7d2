"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const size = 100;
  let shown = data.rows, page = 0, at = 0;
  const open = new Set();

  const element = (tag, text, className) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (className) e.className = className;
    return e;
  };
  const overall = (r) => {
    const all = (r.v || []).filter((s) => !s[0].includes("."));
    return all.length ? all.reduce((n, s) => n + s[1], 0) / all.length : r.e ? 0 : null;
  };
  const words = (r) => (r.w ||= [r.c, r.i, r.a, r.x, r.k, r.e, r.b && r.b.a].join("\n").toLowerCase());
  const states = {
    fail: (r) => r.p === false, pass: (r) => r.p === true, error: (r) => !!r.e, unjudged: (r) => !!r.u || r.p === undefined,
    worse: (r) => r.b && r.b.p && r.p === false, better: (r) => r.b && r.b.p === false && r.p, other: (r) => r.b && r.b.a !== r.a,
  };
  const orders = {
    score: (a, b) => (overall(a) ?? 2) - (overall(b) ?? 2), time: (a, b) => (b.t || 0) - (a.t || 0), tokens: (a, b) => (b.n || 0) - (a.n || 0),
  };

  // diff returns the pieces of two texts: [0 both, -1 only the first, 1 only the second].
  const diff = (a, b) => {
    const x = a.split(/(\s+|[.,;:!?()"{}\[\]])/).filter(Boolean), y = b.split(/(\s+|[.,;:!?()"{}\[\]])/).filter(Boolean);
    const out = [], put = (kind, text) => (out.length && out[out.length - 1][0] === kind ? (out[out.length - 1][1] += text) : out.push([kind, text]));
    if (x.length * y.length > 4e6) return [[-1, a], [1, b]];
    const w = y.length + 1, best = new Uint16Array((x.length + 1) * w);
    for (let i = x.length - 1; i >= 0; i--)
      for (let j = y.length - 1; j >= 0; j--)
        best[i * w + j] = x[i] === y[j] ? best[(i + 1) * w + j + 1] + 1 : Math.max(best[(i + 1) * w + j], best[i * w + j + 1]);
    let i = 0, j = 0;
    while (i < x.length && j < y.length)
      if (x[i] === y[j]) { put(0, x[i++]); j++; }
      else if (best[(i + 1) * w + j] >= best[i * w + j + 1]) put(-1, x[i++]);
      else put(1, y[j++]);
    while (i < x.length) put(-1, x[i++]);
    while (j < y.length) put(1, y[j++]);
    return out;
  };
  const compared = (title, a, b) => {
    const box = element("div"), pre = element("pre");
    box.append(element("h3", title), pre);
    for (const [kind, text] of diff(a, b)) pre.append(element(kind < 0 ? "del" : kind > 0 ? "ins" : "span", text));
    return box;
  };
  const block = (title, text) => {
    const box = element("div");
    box.append(element("h3", title), element("pre", text));
    return box;
  };

  const detail = (r) => {
    const d = element("div", undefined, "detail");
    d.append(block("Input", r.i));
    const sides = element("div", undefined, "sides");
    if (r.x) sides.append(block("Expected", r.x));
    sides.append(block(r.e ? "Failed run" : "Answer", r.e ? r.e + (r.a ? "\n\n" + r.a : "") : r.a));
    d.append(sides);
    if (r.x && r.x !== r.a && !r.e && r.p !== true) d.append(compared("Expected → answer", r.x, r.a));
    if (r.b && r.b.a !== r.a) d.append(compared("Baseline → answer", r.b.e ? "(failed: " + r.b.e + ")" : r.b.a, r.a));
    for (const other of data.rows) if (data.subjects.length > 1 && other !== r && other.c === r.c && other.r === r.r && other.a !== r.a)
      d.append(compared("This answer → " + data.subjects[other.s], r.a, other.a));
    if (r.v) {
      const table = element("table"), body = element("tbody");
      for (const [name, value, why] of r.v) {
        const line = element("tr");
        line.append(element("th", name), element("td", value.toFixed(3), "n"), element("td", why || ""));
        body.append(line);
      }
      table.append(body);
      d.append(element("h3", "Scores"), table);
    }
    if (r.u) d.append(block("Not judged", r.u));
    if (r.o) d.append(block("Tools", r.o.join(" → ")));
    d.append(element("p", [r.k, r.m, r.t && r.t + " s", r.n && r.n + " tokens", r.d && "session " + r.d].filter(Boolean).join(" · "), "note"));
    return d;
  };

  const draw = () => {
    const list = $("list"), pages = Math.max(1, Math.ceil(shown.length / size));
    page = Math.min(Math.max(page, 0), pages - 1);
    list.replaceChildren();
    shown.slice(page * size, page * size + size).forEach((r, i) => {
      const a = element("article"), b = element("button"), score = overall(r);
      a.setAttribute("role", "listitem");
      a.className = "c" + (r.s % 8) + (i === at ? " at" : "");
      b.type = "button";
      b.tabIndex = -1;
      b.setAttribute("aria-expanded", open.has(r));
      const mark = element("span", r.e ? "!" : r.p === true ? "✓" : r.p === false ? "✗" : "·", r.e || r.p === false ? "bad" : r.p ? "good" : "");
      mark.setAttribute("aria-label", r.e ? "failed" : r.p === true ? "passed" : r.p === false ? "not passed" : "no verdict");
      const id = element("span", r.c + (r.r ? " #" + (r.r + 1) : ""));
      if (data.subjects.length > 1) { const dot = element("i", undefined, "dot"); dot.title = data.subjects[r.s]; id.prepend(dot); }
      b.append(mark, id, element("span", r.i), element("span", r.e || r.a), element("span", (score === null ? "" : score.toFixed(3) + "  ") + (r.t || 0).toFixed(2) + " s", "n"));
      b.addEventListener("click", () => { at = i; toggle(r); });
      a.append(b);
      if (open.has(r)) a.append(detail(r));
      list.append(a);
    });
    $("count").textContent = shown.length + " of " + data.rows.length;
    const nav = $("pages"), go = (text, to, off) => { const b = element("button", text); b.disabled = off; b.onclick = () => { page = to; at = 0; draw(); $("answers").scrollIntoView(); }; return b; };
    nav.replaceChildren(go("Previous", page - 1, page === 0), element("span", "page " + (page + 1) + " of " + pages), go("Next", page + 1, page + 1 >= pages));
  };
  const toggle = (r) => { open.has(r) ? open.delete(r) : open.add(r); draw(); see(); };
  const see = () => { const e = $("list").children[at]; if (e) e.scrollIntoView({ block: "nearest" }); };
  const choose = () => {
    const text = $("text").value.trim().toLowerCase(), subject = $("subject").value, state = states[$("state").value], order = orders[$("sort").value];
    shown = data.rows.filter((r) => (!text || words(r).includes(text)) && (subject === "" || r.s === +subject) && (!state || state(r)));
    if (order) shown = shown.slice().sort(order);
    page = at = 0;
    draw();
  };
  for (const id of ["text", "subject", "state", "sort"]) $(id).addEventListener("input", choose);
  $("filter").addEventListener("submit", (e) => e.preventDefault());
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Escape") { document.activeElement.blur(); $("list").focus({ preventScroll: true }); return; }
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    const here = Math.min(size, shown.length - page * size);
    const keys = {
      j: () => { at = Math.min(at + 1, here - 1); draw(); see(); }, k: () => { at = Math.max(at - 1, 0); draw(); see(); },
      n: () => { page++; at = 0; draw(); see(); }, p: () => { page--; at = 0; draw(); see(); },
      "/": () => $("text").focus(),
      Enter: () => { if (document.activeElement.tagName !== "BUTTON" && document.activeElement.tagName !== "A") { const r = shown[page * size + at]; if (r) toggle(r); } else return true; },
    };
    keys.ArrowDown = document.activeElement === $("list") ? keys.j : undefined;
    keys.ArrowUp = document.activeElement === $("list") ? keys.k : undefined;
    if (keys[e.key] && keys[e.key]() !== true) e.preventDefault();
  });
  choose();
})();
