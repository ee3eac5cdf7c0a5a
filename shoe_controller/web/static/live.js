// The line to the controller. Whoever looks at the page must see within three seconds that it is no longer live;
// the line heals itself and never gives up.

const SILENT_MS = 2200; // the controller beats once a second
const RETRY_MS = 2000;
const WATCH_MS = 200;

export function follow({ onState, onLive, onLost, onRestart }) {
  let source = null;
  let heardAt = -Infinity;
  let openedAt = -Infinity;
  let live = false;
  let known = null; // the newest state: its seq and boot

  function lost() {
    if (live) onLost();
    live = false;
  }

  async function takeState(event) {
    const state = JSON.parse(event.data);
    const restarted = known !== null && known.boot !== state.boot;
    known = { seq: state.seq, boot: state.boot };
    try {
      await onState(state);
    } catch (error) {
      // A state that cannot be shown must not leave the old one standing as if it were live.
      console.error(error);
      lost();
      return;
    }
    heardAt = performance.now();
    if (!live) onLive();
    live = true;
    if (restarted) onRestart();
  }

  function takeBeat(event) {
    const beat = JSON.parse(event.data);
    // A beat about a state that never arrived: ask anew rather than show an old one.
    if (known === null || beat.seq !== known.seq || beat.boot !== known.boot) open();
    else if (live) heardAt = performance.now();
  }

  function open() {
    source?.close();
    openedAt = performance.now();
    source = new EventSource("/events");
    source.addEventListener("state", takeState);
    source.addEventListener("beat", takeBeat);
    source.addEventListener("error", lost);
  }

  setInterval(() => {
    const now = performance.now();
    if (now - heardAt > SILENT_MS) {
      lost();
      if (now - openedAt > RETRY_MS) open();
    }
  }, WATCH_MS);
  open();
}
