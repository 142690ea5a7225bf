// Events from the server. Browsers allow six connections in all tabs together, so one tab listens and tells the others.

/** @typedef {{id: string, kind: string, body: any}} Heard */

const KINDS = ["state", "solved", "moved", "learned", "progress", "reload"];

/** Hear events from a mark on, each once. @param {string} mark @param {(heard: Heard) => void} hear @param {(there: boolean) => void} link */
export function listen(mark, hear, link) {
  const channel = new BroadcastChannel("tag2box-events");
  let seen = mark;
  /** @param {Heard} heard */
  const take = (heard) => {
    const [log, number] = heard.id.split(".");
    const [mine, last] = seen.split(".");
    if (log === mine && Number(number) <= Number(last)) return;
    const lost = log !== mine && heard.kind !== "reload";
    seen = heard.id;
    hear(lost ? { id: heard.id, kind: "reload", body: {} } : heard);
  };
  channel.onmessage = (event) => take(event.data);
  navigator.locks.request("tag2box-events", () => new Promise(() => { // held until this tab closes
    const source = new EventSource(`/events?after=${seen}`);
    for (const kind of KINDS) {
      source.addEventListener(kind, (event) => {
        const heard = { id: event.lastEventId, kind, body: JSON.parse(event.data) };
        take(heard);
        channel.postMessage(heard);
      });
    }
    source.onopen = () => link(true);
    source.onerror = () => link(false);
  }));
}
