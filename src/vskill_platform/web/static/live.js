// Live parts of a page: rows that change in place while the page is open. No framework, nothing to build.
//
// A page says by attributes what is live; without this script it reads the same and stands still.
//
//   data-live="/api/v1/submissions/stream?category=active"
//       on a container: the event stream that it follows.
//   data-live-fragment="/queue?fragment=rows"
//       on the container: an address that answers with the container's content as HTML. It is fetched and put in place of the
//       content when events are missing (`reset`), when streams do not work (polling), and for the events below. Required.
//   data-live-refresh="submission_created state_changed"
//       on the container: events after which the fragment is fetched again, at most once in two seconds; `*` means every event.
//       Use it where an event changes more than fields: a new row, a stage, findings.
//   data-live-since="1234"
//       on the container: the id of the newest event that the page was rendered with, if the server knows it. The stream then
//       begins right there, and nothing between rendering and connecting is missed. Without it the fragment is fetched
//       once when the stream opens.
//   data-live-labels='{"state": {"RECEIVED": "Waiting"}}'
//       on the container: words to show for values of a field; a value without a word is shown as it is.
//   data-live-pace="1"
//       on the container: a factor for every pause: of polling, of coming again, of what is said together.
//   data-live-every="5"
//       on the container: seconds after which the fragment is fetched again at the latest, for content that changes without events:
//       ages, leases, counts.
//   data-live-key="id"
//       on the container: the field of an event that names its row. Default: id. For skills: slug.
//
//   data-live-row="sub_0123"
//       inside the container: the row of one subject. Fields are changed in rows whose name is the event's key.
//   data-live-field="state"
//       inside a row: an element that shows a field of the event's data. Its text becomes the value (or its word), and its
//       attribute data-value the value itself, for styles. A <time> gets its datetime, and the time of day as its text. Null shows
//       nothing. A field that the event does not have is left alone.
//   data-live-if="state:PUBLISHED,EXPANDED"
//       inside a row: an element that is hidden unless the field has one of these values.
//
//   data-live-source="/api/v1/submissions/stream?ids=sub_1,sub_2"
//       anywhere inside the container: the stream to follow from now on, for content that has come to be about more than the
//       page was at first. It goes on from the last event that was seen.
//
//   data-live-announce="{skillName}: {state}"
//       anywhere inside the container, on an element with aria-live="polite": what is said of a change, with words of fields. Of
//       several changes within two seconds the last is said, with how many there were.
//   data-live-status
//       anywhere inside or outside: gets data-value connecting, live, polling or paused. Words for them may be given as
//       data-live-words='{"live": "Live", "polling": "Updated every few seconds"}'.
//
// The container itself gets data-live-state with the same value, and a `live:event` DOM event ({detail: {name, data}}) for
// each event, for scripts that draw more. After a fragment was put in place it gets `live:refreshed`.
"use strict";

(() => {
  const NAMES = [
    "submission_created", "state_changed", "scan_complete", "queue.paused", "queue.resumed",
    "skill.published", "skill.updated", "skill.rescanned", "skill.withdrawn", "skill.renamed",
    "skill.quarantined", "skill.restored", "version.yanked", "version.restored",
    "external_scan.changed", "repo.health_changed", "repo.source_changed", "block.added", "block.removed",
  ];
  const FIRST_PAUSE_MS = 1000;
  const LONGEST_PAUSE_MS = 60000;
  const POLL_MS = 5000;
  const TOGETHER_MS = 2000;
  const HIDDEN_MS = 15000;
  const TRIES_BEFORE_POLLING = 2;

  const jittered = (ms) => ms * (0.5 + Math.random());
  const parsed = (text) => {
    try {
      return JSON.parse(text || "{}");
    } catch {
      return {};
    }
  };

  class Live {
    constructor(container) {
      this.container = container;
      this.lastId = container.dataset.liveSince || "";
      this.pace = Number(container.dataset.livePace || 1);
      this.failures = 0;
      this.changes = 0;
      this.source = null;
      this.timers = {};
      document.addEventListener("visibilitychange", () => this.onVisibility());
      this.connect();
      this.refreshInTime();
    }

    // Connecting, and going on without a stream

    connect() {
      if (this.isGone()) return;
      if (document.hidden) {
        this.show("paused");
        return;
      }
      this.disconnect();
      if (!window.EventSource) {
        this.poll();
        return;
      }
      if (this.failures === 0) this.show("connecting");
      const address = new URL(this.container.dataset.live, location.href);
      if (this.lastId) address.searchParams.set("lastEventId", this.lastId);
      const source = (this.source = new EventSource(address));
      source.onopen = () => this.onOpen();
      source.onerror = () => this.onError(source);
      source.addEventListener("reset", (event) => this.onReset(event));
      source.addEventListener("trouble", () => this.show("polling"));
      source.addEventListener("recovered", () => this.show("live"));
      for (const name of NAMES) source.addEventListener(name, (event) => this.onEvent(name, event));
    }

    // A container that was swapped out of the page follows nothing any more.
    isGone() {
      if (this.container.isConnected) return false;
      this.disconnect();
      for (const timer of Object.values(this.timers)) clearTimeout(timer);
      return true;
    }

    disconnect() {
      if (this.source) this.source.close();
      this.source = null;
    }

    onOpen() {
      this.failures = 0;
      clearTimeout(this.timers.poll);
      this.show("live");
      if (!this.lastId) this.refresh();
    }

    onError(source) {
      if (source !== this.source) return;
      this.failures += 1;
      // A stream that ended is opened again by the browser, which knows the last id. One that was refused is ours to open.
      if (source.readyState !== EventSource.CLOSED && this.failures <= TRIES_BEFORE_POLLING) return;
      this.disconnect();
      if (this.failures > TRIES_BEFORE_POLLING) this.poll();
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.failures, LONGEST_PAUSE_MS);
      this.after("connect", jittered(pause), () => this.connect());
    }

    poll() {
      this.show("polling");
      this.after("poll", jittered(POLL_MS), async () => {
        if (document.hidden) return;
        await this.refresh();
        if (!this.source || this.source.readyState !== EventSource.OPEN) this.poll();
      });
    }

    onVisibility() {
      if (document.hidden) {
        this.after("hide", HIDDEN_MS, () => {
          this.disconnect();
          clearTimeout(this.timers.poll);
          clearTimeout(this.timers.connect);
          this.show("paused");
        });
        return;
      }
      clearTimeout(this.timers.hide);
      if (!this.source) this.connect();
    }

    // What events change

    onEvent(name, event) {
      if (this.isGone()) return;
      this.lastId = event.lastEventId || this.lastId;
      const data = parsed(event.data);
      const key = String(data[this.container.dataset.liveKey || "id"] ?? "");
      for (const row of this.container.querySelectorAll("[data-live-row]")) {
        if (row.dataset.liveRow === key) this.change(row, data);
      }
      this.announce(data);
      this.container.dispatchEvent(new CustomEvent("live:event", { bubbles: true, detail: { name, data } }));
      const wanted = (this.container.dataset.liveRefresh || "").split(/\s+/);
      if (wanted.includes(name) || wanted.includes("*")) this.refreshSoon();
    }

    onReset(event) {
      this.lastId = event.lastEventId || this.lastId;
      this.refresh();
    }

    change(row, data) {
      const elements = [row, ...row.querySelectorAll("[data-live-field], [data-live-if]")];
      for (const element of elements) {
        const { liveField, liveIf } = element.dataset;
        if (liveField && liveField in data) this.put(element, liveField, data[liveField]);
        const [field, values] = (liveIf || "").split(":");
        if (liveIf && field in data) element.hidden = !values.split(",").includes(String(data[field]));
      }
    }

    put(element, field, value) {
      element.dataset.value = value ?? "";
      if (element instanceof HTMLTimeElement && value) {
        element.dateTime = value;
        element.textContent = new Date(value).toLocaleTimeString();
      } else {
        element.textContent = this.word(field, value);
      }
    }

    word(field, value) {
      const labels = parsed(this.container.dataset.liveLabels);
      return value == null ? "" : String(labels[field]?.[value] ?? value);
    }

    // What people hear of it

    announce(data) {
      const place = this.container.querySelector("[data-live-announce]");
      if (!place) return;
      this.changes += 1;
      this.news = place.dataset.liveAnnounce.replace(/\{(\w+)\}/g, (_, field) => this.word(field, data[field]));
      if (this.changes > 1) return; // said with the first
      this.after("announce", TOGETHER_MS, () => {
        place.textContent = this.changes > 1 ? `${this.news} (+${this.changes - 1})` : this.news;
        this.changes = 0;
      });
    }

    show(state) {
      this.container.dataset.liveState = state;
      for (const element of document.querySelectorAll("[data-live-status]")) {
        element.dataset.value = state;
        const words = parsed(element.dataset.liveWords);
        if (state in words) element.textContent = words[state];
      }
    }

    // Reading afresh

    refreshSoon() {
      if (this.timers.refresh) return;
      this.after("refresh", jittered(TOGETHER_MS / 2), () => {
        this.timers.refresh = null;
        this.refresh();
      });
    }

    // What changes without events is read again after a while; hidden pages wait until somebody looks.
    refreshInTime() {
      const seconds = Number(this.container.dataset.liveEvery || 0);
      if (!seconds || this.isGone()) return;
      this.after("every", seconds * 1000, async () => {
        if (!document.hidden) await this.refresh();
        this.refreshInTime();
      });
    }

    async refresh() {
      if (this.isGone()) return;
      const fragment = this.container.dataset.liveFragment;
      if (!fragment) return;
      try {
        const answer = await fetch(fragment, { headers: { "X-Live-Fragment": "1" }, cache: "no-store" });
        if (!answer.ok) return;
        const html = await answer.text();
        if (html !== this.shown) this.replace(html);
      } catch {
        // What is shown stays; the next round may fare better.
      }
    }

    replace(html) {
      const focused = this.container.contains(document.activeElement) ? document.activeElement : null;
      const place = focused && (focused.id ? `#${CSS.escape(focused.id)}` : this.linkPlace(focused));
      const said = this.container.querySelector("[data-live-announce]");
      const kept = this.choices();
      this.container.innerHTML = this.shown = html;
      this.choose(kept);
      const fresh = this.container.querySelector("[data-live-announce]");
      if (said && fresh) fresh.replaceWith(said); // a live region speaks only if it stays the same element
      if (place) this.container.querySelector(place)?.focus({ preventScroll: true });
      this.follow(this.container.querySelector("[data-live-source]")?.dataset.liveSource);
      this.container.dispatchEvent(new CustomEvent("live:refreshed", { bubbles: true }));
    }

    // What somebody has ticked or opened stays so.
    choices() {
      const boxes = this.container.querySelectorAll('input[type="checkbox"]:checked');
      const open = this.container.querySelectorAll("details[open][id]");
      return { boxes: [...boxes].map((box) => [box.name, box.value]), open: [...open].map((details) => details.id) };
    }

    choose({ boxes, open }) {
      for (const box of this.container.querySelectorAll('input[type="checkbox"]')) {
        if (boxes.some(([name, value]) => name === box.name && value === box.value)) box.checked = true;
      }
      for (const id of open) {
        const details = this.container.querySelector(`details[id="${CSS.escape(id)}"]`);
        if (details) details.open = true;
      }
    }

    follow(source) {
      if (!source || source === this.container.dataset.live) return;
      this.container.dataset.live = source;
      if (this.source) this.connect();
    }

    linkPlace(element) {
      const address = element.getAttribute("href");
      return address ? `[href="${CSS.escape(address)}"]` : null;
    }

    after(name, ms, work) {
      clearTimeout(this.timers[name]);
      this.timers[name] = setTimeout(work, ms * this.pace);
    }
  }

  const start = () => {
    for (const container of document.querySelectorAll("[data-live]")) container.live ??= new Live(container);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
  // Containers that htmx brought in later.
  document.addEventListener("htmx:load", start);
})();
