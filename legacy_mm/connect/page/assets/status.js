// Brings the page up to date without loading it anew. All of the page is there without this script.
"use strict";
(() => {
  const EVERY = 5000, STALE_AFTER = 15000;
  const button = document.getElementById("updates");
  let paused = false, loaded = Date.now(), asking = false;

  function isSelecting() {
    const selection = document.getSelection();
    const within = document.getElementById("content");
    return selection && !selection.isCollapsed && within.contains(selection.anchorNode);
  }

  // What a person has changed stays: the open details, the words in a field, the place of the focus.
  function sameKind(old, fresh) {
    return old.nodeType === fresh.nodeType && old.nodeName === fresh.nodeName && old.id === fresh.id;
  }

  function adopt(old, fresh) {
    if (old.nodeType === Node.TEXT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return;
    }
    if (old.nodeType !== Node.ELEMENT_NODE || old.matches("input:not([type=hidden]), select")) return;
    for (const name of old.getAttributeNames()) {
      if (!fresh.hasAttribute(name) && !(name === "open" && old.matches("details"))) old.removeAttribute(name);
    }
    for (const name of fresh.getAttributeNames()) {
      if (old.getAttribute(name) !== fresh.getAttribute(name)) old.setAttribute(name, fresh.getAttribute(name));
    }
    let place = old.firstChild;
    for (const child of [...fresh.childNodes]) {
      let like = place;
      while (like && !sameKind(like, child)) like = like.nextSibling;
      if (like) {
        removeFrom(place, like);
        adopt(like, child);
        place = like.nextSibling;
      } else {
        old.insertBefore(document.importNode(child, true), place);
      }
    }
    removeFrom(place, null);
  }

  function removeFrom(first, end) {
    while (first !== end) {
      const next = first.nextSibling;
      first.remove();
      first = next;
    }
  }

  function states() {
    const found = new Map();
    for (const each of document.querySelectorAll("[data-state]")) {
      found.set(each.dataset.state, each.textContent.trim().replace(/^\S+\s+/, ""));
    }
    return found;
  }

  function showAge() {
    const old = Date.now() - loaded > STALE_AFTER;
    document.body.classList.toggle("stale", old);
    document.getElementById("stale").hidden = !old;
  }

  async function update() {
    if (paused || asking || document.hidden || isSelecting()) return;
    asking = true;
    try {
      const answer = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" }, cache: "no-store" });
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (paused || isSelecting()) return;
      const before = states();
      for (const id of ["clock", "content"]) adopt(document.getElementById(id), fresh.getElementById(id));
      document.title = fresh.title;
      const news = [...states()].filter(([flow, word]) => before.has(flow) && before.get(flow) !== word);
      if (news.length) document.getElementById("news").textContent = news.map((each) => each.join(" ")).join(", ");
      loaded = Date.now();
    } catch {
      // nobody answers: the page says that it is old
    } finally {
      asking = false;
      showAge();
    }
  }

  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.setAttribute("aria-pressed", String(paused));
    if (!paused) update();
  });
  document.addEventListener("visibilitychange", update);
  setInterval(update, EVERY);
  setInterval(showAge, 1000);
})();
