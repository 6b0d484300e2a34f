// The clients of overload.mjs, in a process of their own.
import { connect } from 'node:net';

const IDS = 2_000;

/**
 * Opens connections, then sends requests as each message of the parent says, at a rate or from a number of clients, and answers it
 * with the rates of responses and their times.
 */
export async function callers() {
  const [port, connections] = process.argv.slice(3).map(Number);
  const ask = await openConnections(port, connections);
  process.on('message', async ({ rate, callers, seconds }) => {
    process.send(figures(rate ? await open(ask, rate, seconds) : await closed(ask, callers, seconds), seconds));
  });
  process.send('ready');
}

/** Returns a function that sends the next request and calls back with its status; it returns false if no connection is idle. */
async function openConnections(port, most) {
  /** Idle connections, in the order in which they became idle, so that all of them are used. */
  const idle = queue();
  const buffer = Buffer.alloc(65_536); // shared by all: it is read before the next chunk
  const requests = requestTexts();
  let turn = 0;

  // Connect beforehand and in groups: a burst of connections waits for the kernel, not for the facade.
  for (let n = 0; n < most; n += 100) {
    const group = Array.from({ length: Math.min(100, most - n) });
    await Promise.all(group.map(() => new Promise((resolve) => keepConnected(port, buffer, idle, resolve))));
  }

  return (then) => {
    let mine = idle.shift();
    while (mine?.socket.destroyed) mine = idle.shift();
    if (!mine) return false;
    mine.done = then;
    mine.socket.write(requests[turn++ % IDS], 'latin1');
    return true;
  };
}

function requestTexts() {
  return Array.from({ length: IDS }, (_, id) => {
    const body = `{"query":"query($id:ID!){book(id:$id){title authors summary rating{average}}}","variables":{"id":"${id}"}}`;
    return `POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  });
}

/** A connection, which is idle when it is open and after each response; another one replaces it when it is closed. */
function keepConnected(port, buffer, idle, whenOpen) {
  const mine = { socket: undefined, done: undefined };
  const read = responseReader(buffer, mine, (status) => {
    const { done } = mine;
    mine.done = undefined;
    idle.push(mine);
    done(status);
  });
  mine.socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback: read } });
  mine.socket.on('connect', () => {
    idle.push(mine);
    whenOpen();
  });
  mine.socket.on('error', () => undefined);
  mine.socket.on('close', () => {
    mine.done?.('lost');
    keepConnected(port, buffer, idle, () => undefined);
  });
}

/** Reads the status of a response, and the rest of it as a number of bytes only. */
function responseReader(buffer, mine, whenRead) {
  let status = '';
  let missing = 0;
  return (size) => {
    if (missing === 0) {
      const text = buffer.latin1Slice(0, size);
      const end = text.indexOf('\r\n\r\n');
      const length = text.indexOf('content-length: ');
      if (end < 0 || length < 0 || !mine.done) return; // an unsolicited response announces that the connection is closed
      status = text.slice(9, 12);
      missing = end + 4 + parseInt(text.slice(length + 16, length + 24), 10);
    }
    missing -= size;
    if (missing > 0) return;
    missing = 0;
    whenRead(status);
  };
}

/** Closed loop: a number of clients, each sending again after its response. */
async function closed(ask, callers, seconds) {
  const seen = counting(seconds);
  const caller = async () => {
    for (let now = performance.now(); now < seen.ends; now = performance.now()) {
      await new Promise((resolve) =>
        ask((status) => {
          note(seen, status, now);
          resolve();
        }),
      );
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return seen;
}

/** Open loop: a fixed rate, whatever the responses; the time of a request counts from when it was due. */
async function open(ask, rate, seconds) {
  const seen = counting(seconds);
  let due = performance.now();
  let outstanding = 0;
  for (let now = due; now < seen.ends; now = performance.now()) {
    for (; due < now; due += 1_000 / rate) {
      const since = due;
      const sent = ask((status) => {
        outstanding--;
        note(seen, status, since);
      });
      if (sent) outstanding++;
      else note(seen, 'unsent', since);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  while (outstanding > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return seen;
}

/** Counts responses after the first second and before the end; the times are those of requests sent until then. */
function counting(seconds) {
  const began = performance.now() + 1_000;
  return { began, ends: began + seconds * 1_000, count: {}, times: { 200: [], 503: [], lost: [] } };
}

function note({ began, ends, count, times }, status, since) {
  const now = performance.now();
  if (now < began) return;
  if (now < ends) count[status] = (count[status] ?? 0) + 1;
  times[status]?.push(now - since);
}

function figures({ count, times }, seconds) {
  const at = (of, share) => of.sort((a, b) => a - b)[Math.min(of.length - 1, Math.floor(of.length * share))] ?? 0;
  const perSecond = (status) => (count[status] ?? 0) / seconds;
  return {
    offered: Object.values(count).reduce((sum, n) => sum + n, 0) / seconds,
    accepted: perSecond(200),
    refused: perSecond(503),
    unsent: perSecond('unsent'),
    lost: count.lost ?? 0,
    p50: at(times[200], 0.5),
    p99: at(times[200], 0.99),
    slowest: at(times[200], 1),
    refusedP99: at(times[503], 0.99),
  };
}

/** A FIFO queue; shifting an array would move its items. */
function queue() {
  let first = [];
  let last = [];
  return {
    push: (value) => last.push(value),
    shift() {
      if (first.length === 0) [first, last] = [last.reverse(), first];
      return first.pop();
    },
  };
}
